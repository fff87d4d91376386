/* SPDX-License-Identifier: MIT */
/*
 * histogram(): a map of histograms as the tools of old print them, which scripts read.
 *
 * The heading decides which way. A unit ("usecs") gives rows of whole numbers, both bounds
 * included:        4 -> 7          : 12       |****   |
 * one with both bounds (">=(ms) .. <(ms) : I/O") rows whose upper bound is not:
 *                  4 -> 8       : 12       |####   |
 * and a map of numbers to counts has rows that begin at its keys:
 *                8.0 -> 15.9      : 12       |####   |
 * What stands behind the colon of the heading is the name of the counts.
 */
#include <math.h>

#include "view/run/show.h"

#define STARS 40
#define HASHES 38
#define NARROW_MAX 0xffffffffu /* what fits into narrow columns */

struct form {
	struct strbuf *b;
	char unit[64], counts[32];
	bool open; /* the upper bound is not included */
	bool wide;
	uint64_t max;
};

/* "usecs", ">=(ms) .. <(ms) : I/O" */
static void read_head(struct form *f, const char *head)
{
	const char *colon = strstr(head, " : ");

	snprintf(f->unit, sizeof(f->unit), "%.*s", colon ? (int)(colon - head) : 63, head);
	snprintf(f->counts, sizeof(f->counts), "%s", colon ? colon + 3 : "count");
	f->open = strstr(f->unit, " .. ");
}

static void show_hist_table_bar(const struct form *f, uint64_t n, char c, unsigned width, bool up)
{
	double part = f->max ? (double)n * width / (double)f->max : 0;
	unsigned len = (unsigned)(up ? ceil(part) : part);

	strbuf_printf(f->b, " : %-8llu |", (unsigned long long)n);
	for (unsigned i = 0; i < width; i++)
		strbuf_putc(f->b, i < len ? c : ' ');
	strbuf_puts(f->b, "|\n");
}

static void closed_row(const struct form *f, bool from, int64_t lo, bool to, int64_t hi, uint64_t n)
{
	int width = f->wide ? 20 : 10;
	char left[24] = "", right[24] = "";

	if (from)
		snprintf(left, sizeof(left), "%lld", (long long)lo);
	if (to)
		snprintf(right, sizeof(right), "%lld", (long long)hi);
	strbuf_printf(f->b, "%*s -> %-*s", width, left, width, right);
	show_hist_table_bar(f, n, '*', f->wide ? STARS / 2 : STARS, false);
}

static void open_row(const struct form *f, int64_t lo, uint64_t hi, uint64_t n)
{
	strbuf_printf(f->b, "%8lld -> %-7llu", (long long)lo, (unsigned long long)hi);
	show_hist_table_bar(f, n, '#', HASHES, true);
}

static void closed_head(const struct form *f, bool single)
{
	if (single)
		strbuf_printf(f->b, "     %-13s : %-9s distribution\n", f->unit, f->counts);
	else
		strbuf_printf(f->b, "%*s%-*s : %-9s distribution\n", f->wide ? 15 : 5, "",
			      f->wide ? 29 : 19, f->unit, f->counts);
}

static void open_head(const struct form *f)
{
	strbuf_printf(f->b, "  %-17s : %-8s |%-*s|\n", f->unit, f->counts, HASHES, "Distribution");
}

/* Of whole powers of two, or in steps. */
static void show_hist_table_put_hist(struct form *f, const struct ltype *t, const void *v)
{
	size_t n = show_hist_buckets(t), first = t->kind == LT_HIST && t->step ? n : 1, last = 0;
	bool plain = t->kind == LT_HIST && !t->step, single = t->kind == LT_LHIST && t->step == 1;
	/* 0 and 1 are a row where the upper bound is included */
	uint64_t ones = plain && !f->open ? show_word(v, 1) : 0;
	int64_t lo;
	uint64_t hi = 0;

	f->max = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = show_word(v, i) + (i == 2 ? ones : 0);

		if (x) {
			first = i < first ? i : first;
			last = i;
			f->max = x > f->max ? x : f->max;
		}
	}
	if (!f->max)
		return;
	show_hist_bounds(t, last, &lo, &hi);
	f->wide = hi - 1 > NARROW_MAX && last;
	if (f->open)
		open_head(f);
	else
		closed_head(f, single);
	if (plain && !f->open && last == 1)
		last = 2;
	for (size_t i = first; i <= last; i++) {
		bool over = t->kind == LT_LHIST && i == n - 1;

		show_hist_bounds(t, i, &lo, &hi);
		if (plain && !f->open && i == 1)
			continue;
		if (f->open) {
			open_row(f, lo, hi, show_word(v, i));
		} else if (single && i && !over) {
			strbuf_printf(f->b, "        %-10lld", (long long)lo);
			show_hist_table_bar(f, show_word(v, i), '*', STARS, false);
		} else {
			if (plain && i == 2)
				lo = 0;
			closed_row(f, i > 0, lo, !over, (int64_t)hi - 1,
				   show_word(v, i) + (i == 2 ? ones : 0));
		}
	}
}

static uint64_t show_hist_table_number(const struct lang_map *m, const struct show_row *r)
{
	uint64_t n;

	show_number(m->value, r->value, &n);
	return n;
}

/* Each row begins at its key, the first at nothing. */
static void put_bounds(struct form *f, struct show_rows *t)
{
	const struct lang_map *m = t->m;

	show_rows_sort(t, true);
	strbuf_printf(f->b, "%12s%-14s : %-8s Distribution\n", "", f->unit, f->counts);
	vec_each (&t->rows, r)
		f->max = show_hist_table_number(m, r) > f->max ? show_hist_table_number(m, r)
							       : f->max;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct show_row *r = &t->rows.data[i];
		char lo[24] = "", hi[24] = "";

		if (i)
			snprintf(lo, sizeof(lo), "%lld.0", (long long)show_word(r->key, 0));
		if (i + 1 < t->rows.n)
			snprintf(hi, sizeof(hi), "%lld.9", (long long)show_word(r[1].key, 0) - 1);
		strbuf_printf(f->b, "%13s -> %-9s", lo, hi);
		show_hist_table_bar(f, show_hist_table_number(m, r), '#', HASHES, true);
	}
}

/* bcc's form as valid JSON: every row from 0 on, both bounds included. */
static void put_json(struct lang_out *o, const struct lang_map *m, const char *unit,
		     const char *section, const struct show_row *r)
{
	struct strbuf *b = &o->text;
	size_t n = show_hist_buckets(m->value), last = 2;
	AUTO_STRBUF key = { 0 };

	for (size_t i = 0; i < n; i++)
		last = show_word(r->value, i) && i > last ? i : last;
	strbuf_puts(b, "{\"ts\": \"");
	show_wall(show_now(o), "%Y-%m-%d %H:%M:%S", b);
	strbuf_puts(b, "\", \"val_type\": ");
	show_json_text(b, unit, strlen(unit));
	strbuf_puts(b, ", \"data\": [");
	for (size_t i = 2; i <= last; i++) {
		int64_t lo;
		uint64_t hi;

		show_hist_bounds(m->value, i, &lo, &hi);
		strbuf_printf(b,
			      "%s{\"interval-start\": %lld, \"interval-end\": %llu, \"count\": "
			      "%llu}",
			      i == 2 ? "" : ", ", i == 2 ? 0ll : (long long)lo,
			      (unsigned long long)hi - 1,
			      (unsigned long long)(show_word(r->value, i) +
						   (i == 2 ? show_word(r->value, 1) : 0)));
	}
	strbuf_putc(b, ']');
	if (m->key) {
		show_key(o, m, r->key, " ", &key);
		strbuf_puts(b, ", ");
		show_json_text(b, section ? section : m->name, strlen(section ? section : m->name));
		strbuf_puts(b, ": ");
		show_json_text(b, strbuf_str(&key), key.n);
	}
	strbuf_puts(b, "}\n");
}

void show_hist_table(struct lang_out *o, int map, const char *head, const char *section)
{
	const struct lang_map *m = &o->p->maps.data[map];
	bool hist = m->value->kind == LT_HIST || m->value->kind == LT_LHIST;
	struct form f = { .b = &o->text };
	struct show_rows t;

	read_head(&f, head);
	if (o->json && (m->value->kind != LT_HIST || m->value->step || f.open)) {
		show_map(o, map, 0, 0);
		return;
	}
	show_rows_take(&t, o, map, 0, 0);
	if (o->json) {
		vec_each (&t.rows, r)
			put_json(o, m, f.unit, section, r);
		show_rows_free(&t);
		return;
	}
	if (!hist && t.rows.n)
		put_bounds(&f, &t);
	if (hist && !t.rows.n && f.open) { /* that nothing came is worth a line each time */
		open_head(&f);
		open_row(&f, 0, 1, 0);
	}
	for (size_t i = 0; hist && i < t.rows.n; i++) {
		if (m->key) {
			strbuf_printf(f.b, "\n%s = ", section ? section : m->name);
			show_key(o, m, t.rows.data[i].key, " ", f.b);
			strbuf_putc(f.b, '\n');
		}
		show_hist_table_put_hist(&f, m->value, t.rows.data[i].value);
	}
	show_rows_free(&t);
}
