/* SPDX-License-Identifier: MIT */
/*
 * A table for people.
 *
 * Numbers stand to the right, texts to the left; a column is as wide as its widest value. What
 * comes as lines of its own, stacks and histograms, follows its row.
 */
#include <inttypes.h>
#include <string.h>

#include "base/term.h"
#include "view/markup.h"
#include "view/table/table.h"

#define GAP 2	      /* blanks between columns */
#define NARROW 12     /* no text is cut to less */
#define BAR 40	      /* of the largest bucket */
#define MAX_STACKS 20 /* of one row; the rest is counted */

struct texts {
	const struct table *t;
	struct strbuf cell;
	size_t width[TABLE_COLUMNS];
};

/* Characters, not bytes. */
static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static bool has_lines(const struct table_column *c)
{
	return c->kind == TABLE_STACK || c->kind == TABLE_STACKS || c->kind == TABLE_HIST;
}

static const char *table_text_text_of(struct texts *x, size_t column, const struct table_cell *v)
{
	strbuf_reset(&x->cell);
	table_cell_text(&x->t->column[column], v, &x->cell);
	return strbuf_str(&x->cell);
}

static void widen(size_t *width, const char *text)
{
	size_t n = columns_of(text);

	*width = n > *width ? n : *width;
}

static bool has_sums(const struct table *t)
{
	for (size_t c = 0; c < t->n_columns; c++)
		if (t->column[c].sum && t->sum[c].known)
			return t->n_rows + t->left_out > 1;
	return false;
}

static const char *sum_at(struct texts *x, size_t column, size_t row)
{
	if (x->t->column[column].sum)
		return table_text_text_of(x, column, &x->t->sum[column]);
	return column == x->t->n_heading ? "total" : "";
}

static void table_text_measure(struct texts *x)
{
	const struct table *t = x->t;

	for (size_t c = t->n_heading; c < t->n_columns; c++) {
		if (has_lines(&t->column[c]))
			continue;
		x->width[c] = t->column[c].width;
		widen(&x->width[c], t->column[c].title);
		for (size_t row = 0; row < t->n_rows; row++)
			widen(&x->width[c], table_text_text_of(x, c, table_at(t, row, c)));
		if (has_sums(t))
			widen(&x->width[c], sum_at(x, c, 0));
	}
}

/* Texts give way, the widest first, until all fits or they are as narrow as they may be. */
static void squeeze(struct texts *x, size_t room)
{
	size_t all = 0;

	for (size_t c = x->t->n_heading; c < x->t->n_columns; c++)
		if (!has_lines(&x->t->column[c]))
			all += x->width[c] + GAP;
	while (room && all > room + GAP) {
		size_t widest = TABLE_COLUMNS;

		for (size_t c = x->t->n_heading; c < x->t->n_columns; c++)
			if (x->t->column[c].kind == TABLE_TEXT && x->width[c] > NARROW &&
			    (widest == TABLE_COLUMNS || x->width[c] > x->width[widest]))
				widest = c;
		if (widest == TABLE_COLUMNS)
			return;
		x->width[widest]--;
		all--;
	}
}

/* What is too long loses its middle: both ends say more. n: its characters. */
static void put_cut(FILE *f, const char *s, size_t n, size_t width)
{
	size_t head = (width - 1) / 2, tail = width - 1 - head, at = 0;

	if (n <= width) {
		fputs(s, f);
		return;
	}
	for (; *s; s++) {
		at += (*s & 0xc0) != 0x80;
		if (at <= head || at > n - tail)
			putc(*s, f);
		else if (at == head + 1 && (*s & 0xc0) != 0x80)
			fputs("…", f);
	}
}

typedef const char *text_fn(struct texts *x, size_t column, size_t row);

static const char *title_at(struct texts *x, size_t column, size_t row)
{
	return x->t->column[column].title;
}

static const char *value_at(struct texts *x, size_t column, size_t row)
{
	return table_text_text_of(x, column, table_at(x->t, row, column));
}

static void put_line(FILE *f, struct texts *x, text_fn *text, size_t row)
{
	AUTO_STRBUF gap = { 0 };

	for (size_t c = x->t->n_heading; c < x->t->n_columns; c++) {
		const char *s = has_lines(&x->t->column[c]) ? NULL : text(x, c, row);
		bool right = x->t->column[c].kind != TABLE_TEXT;
		size_t n = s ? columns_of(s) : 0, pad = s && n < x->width[c] ? x->width[c] - n : 0;

		if (!s)
			continue;
		strbuf_fill(&gap, ' ', right ? pad : 0);
		if (*s) { /* blanks are written before what follows: none end a line */
			fputs(strbuf_str(&gap), f);
			strbuf_reset(&gap);
			put_cut(f, s, n, x->width[c]);
		}
		strbuf_fill(&gap, ' ', (right ? 0 : pad) + GAP);
	}
	putc('\n', f);
}

static void put_limit(const struct table_hist *h, int64_t v, struct strbuf *ret)
{
	struct table_column c = { .kind = h->kind };
	struct table_cell cell = { .known = true, .i = v };

	if (v == INT64_MIN || v == INT64_MAX)
		strbuf_puts(ret, "...");
	else
		table_cell_text(&c, &cell, ret);
}

static void table_text_put_hist(FILE *f, const struct table_hist *h)
{
	uint64_t most = 1;

	for (size_t i = 0; i < h->n; i++)
		most = h->bucket[i].count > most ? h->bucket[i].count : most;
	for (size_t i = 0; i < h->n; i++) {
		const struct table_bucket *b = &h->bucket[i];
		size_t bar = (size_t)(b->count * BAR / most);
		AUTO_STRBUF range = { 0 };

		strbuf_putc(&range, '[');
		put_limit(h, b->from, &range);
		strbuf_puts(&range, ", ");
		put_limit(h, b->to, &range);
		strbuf_putc(&range, ')');
		fprintf(f, "    %-22s %10" PRIu64 " |", strbuf_str(&range), b->count);
		for (size_t k = 0; k < BAR; k++)
			putc(k < bar ? '@' : ' ', f);
		fputs("|\n", f);
	}
}

static void table_text_put_stack(FILE *f, const struct table_stack *s, int indent)
{
	for (size_t i = 0; i < s->n; i++) {
		AUTO_STRBUF name = { 0 };

		markup_clean(&name, s->frame[i], strlen(s->frame[i]));
		fprintf(f, "%*s%s\n", indent, "", strbuf_str(&name));
	}
}

void table_text_stacks(FILE *f, const struct table_stacks *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct table_stack *one = &s->stack[i];

		if (i == MAX_STACKS) {
			fprintf(f, "        ... %zu more\n", s->n - MAX_STACKS);
			return;
		}
		fprintf(f, "        %.2f%% (%" PRIu64 ")",
			100.0 * (double)one->count / (double)s->count, one->count);
		if (s->timed)
			fprintf(f, " time:%" PRIu64, one->total);
		putc('\n', f);
		table_text_put_stack(f, one, 12);
	}
}

void table_text_lines(FILE *f, const struct table *t, size_t row)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		const struct table_cell *v = table_at(t, row, c);

		if (v->known && t->column[c].kind == TABLE_STACK)
			table_text_put_stack(f, v->stack, 4);
		else if (v->known && t->column[c].kind == TABLE_STACKS)
			table_text_stacks(f, v->stacks);
		else if (v->known && t->column[c].kind == TABLE_HIST)
			table_text_put_hist(f, v->hist);
	}
}

static bool same_heading(struct texts *x, size_t row)
{
	for (size_t c = 0; row && c < x->t->n_heading; c++) {
		AUTO_FREE char *before = mem_strdup(value_at(x, c, row - 1));

		if (strcmp(before, value_at(x, c, row)) != 0)
			return false;
	}
	return row > 0;
}

static void put_heading(FILE *f, struct texts *x, size_t row)
{
	if (row)
		putc('\n', f);
	fputs(term_style(f, TERM_BOLD), f);
	fputs(value_at(x, 0, row), f);
	for (size_t c = 1; c < x->t->n_heading; c++)
		fprintf(f, ", %s %s", x->t->column[c].title, value_at(x, c, row));
	fprintf(f, "%s\n", term_style(f, TERM_RESET));
}

static void put_titles(FILE *f, struct texts *x)
{
	fputs(term_style(f, TERM_BOLD), f);
	put_line(f, x, title_at, 0);
	fputs(term_style(f, TERM_RESET), f);
}

static void put_ending(FILE *f, struct texts *x)
{
	const struct table *t = x->t;

	if (has_sums(t))
		put_line(f, x, sum_at, 0);
	if (t->left_out)
		fprintf(f, "%s... %zu more row%s%s\n", term_style(f, TERM_DIM), t->left_out,
			t->left_out == 1 ? "" : "s", term_style(f, TERM_RESET));
	for (size_t i = 0; i < t->notes.n; i++)
		fprintf(f, "%s# %s%s\n", term_style(f, TERM_DIM), t->notes.data[i],
			term_style(f, TERM_RESET));
}

static void table_text_put_table(FILE *f, const struct table *t)
{
	struct texts x = { .t = t };

	table_text_measure(&x);
	squeeze(&x, term_width(f, 0));
	if (t->title)
		fprintf(f, "%s%s%s\n\n", term_style(f, TERM_BOLD), t->title,
			term_style(f, TERM_RESET));
	if (!t->n_heading)
		put_titles(f, &x);
	for (size_t row = 0; row < t->n_rows; row++) {
		if (t->n_heading && !same_heading(&x, row)) {
			put_heading(f, &x, row);
			put_titles(f, &x);
		}
		put_line(f, &x, value_at, row);
		table_text_lines(f, t, row);
	}
	put_ending(f, &x);
	strbuf_free(&x.cell);
}

void table_text_all(FILE *f, const struct tables *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			putc('\n', f);
		table_text_put_table(f, t->data[i]);
	}
}
