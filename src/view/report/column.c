/* SPDX-License-Identifier: MIT */
/* The columns of a report as text: how wide, how aligned, what stands above them. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "base/str.h"
#include "base/term.h"
#include "view/report/report.h"

#define ADDRESS 16 /* digits */

bool report_shown(const struct hist *h, const struct column *c)
{
	return !c->hidden && column_applies(c, h->opts.type);
}

double report_share(const struct report_style *s, const struct hist *h, const struct hist_row *r,
		    enum key key)
{
	return profile_percent(hist_sum(h, r, key), hist_total(h, s->relative));
}

double report_row_share(const struct report_style *s, const struct hist *h,
			const struct hist_row *r)
{
	return profile_percent(hist_weight(h, r), hist_total(h, s->relative));
}

/* Room for one number of a sum. */
static int sum_width(const struct column *c)
{
	return c->width ? c->width : key_infos[c->key].width;
}

/* What a column is wide at least, whatever stands in it. */
static int least_width(const struct report_style *s, const struct hist *h, const struct column *c)
{
	switch (c->key) {
	case KEY_TIME: return key_infos[c->key].width + (h->cells->opts.ns ? 4 : 0);
	case KEY_FIELD:
		return c->field->is_string || c->field->kind == FIELD_STRING
			       ? (int)c->field->size
			       : (int)c->field->size * 2 + 2;
	case KEY_SYM: return s->verbose > 0 ? ADDRESS + 5 : 0;
	default: return key_infos[c->key].width;
	}
}

/*
 * The width of the column of names is that of the threads' last ones, as perf's: the
 * "perf-exec" of a command's first moments is longer than most names, but
 * not worth the room in every other line.
 */
static int last_name_width(const struct hist *h, const struct hist_row *r)
{
	const struct trace *t = h->cells->names->profile->trace;
	char name[TASK_NAME];

	return (int)strlen(tasks_name_at(t->tasks, r->tid, UINT64_MAX, name));
}

/* The same of a thread's rows, asked for once. */
static int thread_width(const struct hist *h, const struct hist_row *r, struct map *known)
{
	uint64_t *at = map_at(known, (uint32_t)r->tid);

	if (!*at)
		*at = (uint64_t)last_name_width(h, r) + 1;
	return (int)*at - 1;
}

static int address_width(const char *text)
{
	return (int)strcspn(text, "+") + (text[4] == '0' ? 0 : ADDRESS + 2);
}

/* What a row's cell needs. */
static int cell_width(const struct report_style *s, const struct hist *h, const struct hist_row *r,
		      const struct column *c, struct map *threads)
{
	char buf[4096];

	switch (c->key) {
	case KEY_COMM: return thread_width(h, r, threads);
	case KEY_PID:
	case KEY_TGID: return thread_width(h, r, threads) + 8;
	case KEY_SYM:
		return (int)cell_length(h->cells, c, r->at, r->count) +
		       (s->verbose > 0 ? ADDRESS + 5 : 0);
	case KEY_SYM_DADDR:
	case KEY_SYM_IADDR:
	case KEY_DCACHELINE:
		return address_width(cell_text(h->cells, c, r->at, r->count, buf, sizeof(buf)));
	case KEY_SYM_SIZE:
	case KEY_DSO_SIZE: return 0;
	default: return (int)cell_length(h->cells, c, r->at, r->count);
	}
}

static bool is_unnamed(const struct hist *h, const struct hist_row *r)
{
	const struct names *n = h->cells->names;

	return n->frames.data[n->sites.data[r->site].frame].name == SYMBOLS_NONE;
}

/* What stands in the code's columns is looked at once for all rows, and in the order of memory. */
static int widest_site(const struct report_style *s, const struct hist *h, const struct column *c)
{
	AUTO_FREE bool *used = mem_alloc(h->cells->n_site_classes + 1ul);
	int width = 0;

	vec_each (&h->rows, r)
		used[r->at.site] |= !r->hidden;
	for (uint32_t i = 0; i < h->cells->n_site_classes; i++) {
		const struct hist_row one = { .at = { .site = i } };
		int n = used[i] ? cell_width(s, h, &one, c, NULL) : 0;

		width = n > width ? n : width;
	}
	return width;
}

static int widest_row(const struct report_style *s, const struct hist *h, const struct column *c)
{
	struct map threads = { 0 };
	int width = 0;

	vec_each (&h->rows, r) {
		int n = r->hidden ? 0 : cell_width(s, h, r, c, &threads);

		width = n > width ? n : width;
	}
	map_free(&threads);
	return width;
}

/* Is the address of an unnamed row longer than its file's name? */
static bool has_unnamed(const struct report_style *s, const struct hist *h, const struct column *c)
{
	vec_each (&h->rows, r)
		if (!r->hidden && is_unnamed(h, r) && cell_width(s, h, r, c, NULL))
			return true;
	return false;
}

/* widen: where an address is long, its file's column is, too */
static int widest(const struct report_style *s, const struct hist *h, const struct column *c,
		  int least, bool widen)
{
	int width =
		key_infos[c->key].kind == KEY_OF_SITE ? widest_site(s, h, c) : widest_row(s, h, c);

	width = width > least ? width : least;
	if (widen && c->key == KEY_DSO && width < ADDRESS && has_unnamed(s, h, c))
		width = ADDRESS;
	return width;
}

struct measuring {
	struct report_widths *w;
	const struct report_style *s;
	const struct hist *h;
	bool widths_given;
};

static int measure_job(void *ctx, size_t column, unsigned worker)
{
	const struct measuring *m = ctx;
	const struct report_style *s = m->s;
	const struct hist *h = m->h;
	const struct column *c = &h->cells->opts.columns->col[column];
	int *to = &m->w->w[column];

	*to = (int)strlen(c->title);
	if (column_is_sum(c)) {
		/* as perf has it, -w is the width of all of a group, or of each number */
		int all = h->n_members ? key_infos[c->key].width * (int)(h->n_members + 1) : 0;

		*to = sum_width(c) > *to ? sum_width(c) : *to;
		*to = all > *to ? all : *to;
		return 0;
	}
	if (least_width(s, h, c) > *to)
		*to = least_width(s, h, c);
	if (c->width || !report_shown(h, c))
		*to = c->width;
	else
		*to = widest(s, h, c, *to, !m->widths_given && !s->sep && !s->narrow_dsos);
	return 0;
}

#define MANY 16384 /* rows for which threads are worth their while */

void report_measure(struct report_widths *w, const struct report_style *s, const struct hist *h)
{
	const struct columns *cols = h->cells->opts.columns;
	struct measuring m = { .w = w, .s = s, .h = h };

	for (unsigned i = 0; i < cols->n; i++)
		m.widths_given = m.widths_given || cols->col[i].width;
	pool_run(cols->n, h->rows.n < MANY ? 1 : 0, measure_job, &m);
}

/* As printf() has a share with two digits behind the point, only sooner. */
static void put_hundredths(struct strbuf *b, int width, double p)
{
	double cents = p * 100;
	uint64_t n = (uint64_t)(cents + 0.5);
	char text[32], *end = text + sizeof(text), *at = end;

	/* halves are rounded by what follows after many more digits: printf() knows */
	if (!(p >= 0 && p < 1e9) || fabs(cents - floor(cents) - 0.5) < 1e-6) {
		strbuf_printf(b, " %*.2f%%", width, p);
		return;
	}
	*--at = '%';
	for (int digits = 0; digits < 3 || n; digits++, n /= 10) {
		if (digits == 2)
			*--at = '.';
		*--at = (char)('0' + n % 10);
	}
	while (end - at < width + 1)
		*--at = ' ';
	*--at = ' ';
	strbuf_add(b, at, (size_t)(end - at));
}

/* Hot rows stand out on a terminal, with perf's limits. Returns the width without colours. */
static int put_share(struct strbuf *b, bool color, int width, double p)
{
	enum term_style c = term_heat(p);
	size_t from;

	if (!color || c == TERM_RESET) {
		from = b->n;
		put_hundredths(b, width, p);
		return (int)(b->n - from);
	}
	strbuf_puts(b, term_code(c));
	from = b->n;
	put_hundredths(b, width, p);
	width = (int)(b->n - from);
	strbuf_puts(b, term_code(TERM_RESET));
	return width;
}

static int report_column_put_sum(struct strbuf *b, const struct report_style *s,
				 const struct hist *h, const struct hist_row *r,
				 const struct column *c)
{
	size_t from = b->n;

	if (!key_infos[c->key].counts)
		return put_share(b, s->color, s->sep ? 1 : sum_width(c) - 2,
				 r ? report_share(s, h, r, c->key) : 0);
	strbuf_printf(b, " %*" PRIu64, s->sep ? 1 : sum_width(c) - 1,
		      r ? hist_sum(h, r, c->key) : 0);
	return (int)(b->n - from);
}

static int put_sums(struct strbuf *b, const struct report_style *s, const struct hist *h,
		    size_t row, const struct column *c)
{
	size_t from = b->n;
	int n;

	if (c->key == KEY_CHILDREN && !h->opts.children) { /* nobody counted them */
		strbuf_printf(b, " %*s", s->sep ? 0 : sum_width(c) - 1, "N/A");
		return (int)(b->n - from);
	}
	n = report_column_put_sum(b, s, h, &h->rows.data[row], c);
	for (unsigned m = 0; m < h->n_members; m++)
		n += report_column_put_sum(b, s, &h->member[m], hist_pair(h, row, m), c);
	return n;
}

/* A separator inside a cell would end it: perf writes a point instead. */
static void hide_sep(const struct report_style *s, char *text)
{
	for (char *p = text; s->sep && (p = strchr(p, s->sep[0]));)
		*p = '.';
}

static void report_column_put_text(struct strbuf *b, const char *text, int max)
{
	strbuf_add(b, text, strnlen(text, (size_t)(max > 0 ? max : 0)));
}

static void put_symbol(struct strbuf *b, const struct report_style *s, const struct hist *h,
		       const struct hist_row *r, const char *text, int width)
{
	const struct names *n = h->cells->names;
	const struct name_site *site = &n->sites.data[r->site];
	size_t from = b->n;

	if (s->verbose > 0) {
		strbuf_printf(b, "%-#*" PRIx64 " %c ", ADDRESS + 2,
			      site->mode == EVENT_MODE_KERNEL ? site->addr : site->dso_addr,
			      cell_origin(site));
		width -= (int)(b->n - from);
	}
	report_column_put_text(b, text, width > 4 ? width : 4);
}

static void report_column_put_cell(struct strbuf *b, const struct report_style *s,
				   const struct hist *h, const struct hist_row *r,
				   const struct column *c, int width)
{
	char buf[4096], copy[4096];
	const char *text = cell_text(h->cells, c, r->at, r->count, buf, sizeof(buf));
	int cut = c->width ? width : (int)sizeof(buf), n;

	if (s->sep) {
		snprintf(copy, sizeof(copy), "%s", text);
		hide_sep(s, copy);
		text = copy;
	}
	if (c->key == KEY_SYM) {
		put_symbol(b, s, h, r, text, cut);
		return;
	}
	n = (int)strnlen(text, (size_t)(cut > 0 ? cut : 0));
	if (key_infos[c->key].right && n < width)
		strbuf_fill(b, ' ', (size_t)(width - n));
	report_column_put_text(b, text, cut);
}

void report_cell(struct strbuf *b, const struct report_style *s, const struct hist *h, size_t row,
		 const struct column *c, int width, bool pad)
{
	size_t from = b->n;
	int n;

	if (column_is_sum(c)) {
		n = put_sums(b, s, h, row, c);
	} else {
		report_column_put_cell(b, s, h, &h->rows.data[row], c, width);
		n = (int)(b->n - from);
	}
	if ((pad || key_infos[c->key].padded) && n < width)
		strbuf_fill(b, ' ', (size_t)(width - n));
}

void report_put_heads(FILE *f, const char *sep, const struct report_head *heads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, heads[i].right ? "%s%*.*s" : "%s%-*.*s",
			!i    ? "# "
			: sep ? sep
			      : "  ",
			heads[i].width, heads[i].right ? INT_MAX : heads[i].width, heads[i].title);
	putc('\n', f);
	for (size_t i = 0; i < n && !sep; i++) {
		fputs(i ? "  " : "# ", f);
		for (int k = 0; k < heads[i].width; k++)
			putc('.', f);
	}
	fputs(sep ? "" : "\n#\n", f);
}

void report_heads(FILE *f, const struct report_style *s, const struct hist *h,
		  const struct report_widths *w)
{
	const struct columns *cols = h->cells->opts.columns;
	struct report_head heads[KEY_COLUMNS];
	size_t n = 0;

	for (unsigned i = 0; i < cols->n; i++)
		if (report_shown(h, &cols->col[i]))
			heads[n++] = (struct report_head){ cols->col[i].title, w->w[i],
							   column_is_sum(&cols->col[i]) ||
								   cols->col[i].key == KEY_FIELD };
	report_put_heads(f, s->sep, heads, n);
}

/* Perf shortens large numbers of samples: 12K of event. */
void report_heading(FILE *f, const struct report_style *s, const struct hist *h)
{
	const struct event_type *types = h->cells->names->profile->trace->types;
	uint64_t n = s->relative ? h->count : h->all_count, weight = hist_total(h, s->relative);
	const char *units = " KMGT";
	AUTO_STRBUF name = { 0 };

	strbuf_puts(&name, types[h->opts.type].name);
	if (h->n_members) {
		strbuf_reset(&name);
		strbuf_printf(&name, "%s%s", s->forced_group ? "" : "anon group { ",
			      types[h->opts.type].name);
		for (unsigned m = 0; m < h->n_members; m++) {
			const struct hist *o = &h->member[m];

			strbuf_printf(&name, ", %s", types[o->opts.type].name);
			n += s->relative ? o->count : o->all_count;
			weight += hist_total(o, s->relative);
		}
		strbuf_puts(&name, s->forced_group ? "" : " }");
	}
	for (double v = (double)n; v > 1000 && units[1]; n = (uint64_t)v) {
		v /= 1000;
		units++;
	}
	fprintf(f, "# Samples: %" PRIu64 "%c of event%s '%s'", n, *units, h->n_members ? "s" : "",
		strbuf_str(&name));
	if (s->times)
		fprintf(f, " (time slices: %s)", s->times);
	if (s->memory)
		fprintf(f, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s\n#\n", weight,
			s->sort ? s->sort : "");
	else
		fprintf(f, "\n# Event count (approx.): %" PRIu64 "\n#\n", weight);
}
