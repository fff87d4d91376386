/* SPDX-License-Identifier: MIT */
/*
 * The interactive heat map. Every point goes in; where that is too much, times
 * and values are rounded until points coincide, and their number is kept. The
 * columns (view/picture/pack.h), entries in order of time:
 *
 *	time	steps after the last entry's
 *	value	in units of the header's "scale" when rounded, else as it is
 *	label	index into the header's labels + 1; 0: none
 *	count	of points
 *	detail	index into the header's details + 1; 0: none
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "view/markup.h"
#include "view/picture/heat.h"
#include "view/picture/pack.h"
#include "view/picture/web.h"

struct entry {
	uint64_t time, value; /* time in steps after the first */
	uint32_t label, count, detail;
};

struct pack {
	const struct heat_points *p;
	const struct heat_view_opts *o;
	uint64_t first, last, step;
	int digits;
	bool details;
	VEC(struct entry) entries;
};

/* To that many significant digits, downwards: a bound stays a bound. */
static uint64_t rounded(uint64_t v, int digits)
{
	uint64_t ten = 1, most = 1;

	if (!digits)
		return v;
	for (int i = 0; i < digits; i++)
		most *= 10;
	while (v / ten >= most)
		ten *= 10;
	return v / ten * ten;
}

static int heat_html_by_time(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return (a->detail > b->detail) - (a->detail < b->detail);
}

static void heat_html_gather(struct pack *p)
{
	size_t n = 0;

	p->entries.n = 0;
	vec_each (&p->p->points, q)
		vec_push(&p->entries,
			 (struct entry){ .time = (q->time - p->first) / p->step,
					 .value = rounded(q->value, p->digits),
					 .label = q->label,
					 .detail = p->details ? q->detail : STRTAB_NONE,
					 .count = 1 });
	if (p->entries.n)
		qsort(p->entries.data, p->entries.n, sizeof(*p->entries.data), heat_html_by_time);
	for (size_t i = 0; i < p->entries.n; i++) {
		if (n && heat_html_by_time(&p->entries.data[n - 1], &p->entries.data[i]) == 0)
			p->entries.data[n - 1].count += p->entries.data[i].count;
		else
			p->entries.data[n++] = p->entries.data[i];
	}
	p->entries.n = n;
}

static void heat_html_put_header(void *ctx, struct json *j)
{
	const struct pack *p = ctx;

	pack_text(j, "title", p->o->title);
	pack_text(j, "subtitle", p->o->subtitle ? p->o->subtitle : "");
	pack_text(j, "unit", p->p->unit ? p->p->unit : "");
	pack_text(j, "what", p->p->what ? p->p->what : "value");
	pack_text(j, "why", p->p->why ? p->p->why : "");
	json_str(j, "version", KYMO_VERSION);
	json_bool(j, "linear", p->o->linear);
	json_u64(j, "first", p->first);
	json_u64(j, "step", p->step);
	json_u64(j, "span", p->last - p->first);
	json_u64(j, "digits", (uint64_t)p->digits);
	json_u64(j, "points", p->p->points.n);
	json_u64(j, "entries", p->entries.n);
	json_array(j, "labels");
	for (uint32_t i = 0; i < p->p->strings.n; i++)
		pack_text(j, NULL, strtab_get(&p->p->strings, i));
	json_end(j);
	json_array(j, "details");
	for (uint32_t i = 0; p->details && i < p->p->details.n; i++)
		pack_text(j, NULL, strtab_get(&p->p->details, i));
	json_end(j);
}

static void heat_html_join(struct pack *p, struct strbuf *raw)
{
	struct strbuf column[5] = { 0 };
	uint64_t time = 0;

	vec_each (&p->entries, en) {
		pack_varint(&column[0], en->time - time);
		pack_varint(&column[1], en->value);
		pack_varint(&column[2], en->label == STRTAB_NONE ? 0 : (uint64_t)en->label + 1);
		pack_varint(&column[3], en->count);
		pack_varint(&column[4], en->detail == STRTAB_NONE ? 0 : (uint64_t)en->detail + 1);
		time = en->time;
	}
	strbuf_reset(raw);
	pack_join(raw, column, ARRAY_SIZE(column), heat_html_put_header, p);
	for (size_t i = 0; i < ARRAY_SIZE(column); i++)
		strbuf_free(&column[i]);
}

/* Coarser: without details, then times, then values, in turn. False when it is coarse enough for
 * anything. */
static bool reduce(struct pack *p)
{
	uint64_t span = p->last - p->first;
	static const struct {
		uint32_t steps;
		int digits;
	} levels[] = { { 1u << 20, 0 }, { 1u << 18, 4 }, { 1u << 16, 3 }, { 1u << 13, 3 },
		       { 1u << 12, 2 }, { 1u << 10, 2 }, { 1u << 9, 2 } };

	if (p->details) {
		p->details = false;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		uint64_t step = span / levels[i].steps + 1;

		if (step > p->step ||
		    (levels[i].digits && (!p->digits || levels[i].digits < p->digits))) {
			p->step = step > p->step ? step : p->step;
			p->digits = levels[i].digits;
			return true;
		}
	}
	return false;
}

int heat_html_write(FILE *f, const struct heat_points *points, const struct heat_view_opts *o,
		    struct heat_html_info *ret, struct err *e)
{
	size_t page = web_heat_0_n + web_heat_1_n + web_heat_2_n;
	size_t room = o->max_bytes > page + 1024 ? o->max_bytes - page - 1024 : 1024;
	struct pack p = { .p = points, .o = o, .step = 1, .first = UINT64_MAX };
	bool details = points->details.n > 0;
	AUTO_STRBUF raw = { 0 };
	AUTO_STRBUF data = { 0 };

	p.details = details;
	vec_each (&points->points, q) {
		p.first = q->time < p.first ? q->time : p.first;
		p.last = q->time > p.last ? q->time : p.last;
	}
	if (!points->points.n)
		p.first = 0;
	do {
		heat_html_gather(&p);
		heat_html_join(&p, &raw);
		pack_encode(&raw, &data);
	} while (pack_base64_size(data.n) > room && reduce(&p));
	fwrite(web_heat_0, 1, web_heat_0_n, f);
	markup_text(f, o->title);
	fwrite(web_heat_1, 1, web_heat_1_n, f);
	pack_base64(f, &data);
	fwrite(web_heat_2, 1, web_heat_2_n, f);
	*ret = (struct heat_html_info){ .bytes = page + strlen(o->title) + pack_base64_size(data.n),
					.entries = p.entries.n,
					.time_step = p.step,
					.digits = p.digits,
					.details_dropped = details && !p.details };
	vec_free(&p.entries);
	return 0;
}
