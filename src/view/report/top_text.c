/* SPDX-License-Identifier: MIT */
#include "view/report/top_text.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/term.h"
#include "view/report/report.h"

static void top_text_bar(FILE *f)
{
	for (unsigned i = 0; i < term_width(f, 80) - 1; i++)
		putc('-', f);
	putc('\n', f);
}

static double top_text_share(const struct hist *h, uint64_t weight, bool relative)
{
	uint64_t all = hist_total(h, relative);

	return all ? 100.0 * (double)weight / (double)all : 0;
}

static void top_text_percent(FILE *f, double p)
{
	enum term_style c = p >= 5 ? TERM_RED : p >= 0.5 ? TERM_GREEN : TERM_RESET;

	if (c == TERM_RESET)
		fprintf(f, "  %7.2f%%", p);
	else
		fprintf(f, "  %s%7.2f%%%s", term_style(f, c), p, term_style(f, TERM_RESET));
}

/* Sums have widths of their own. */
static bool top_text_is_text(const struct hist *h, const struct column *c)
{
	return c->value >= 0 && !c->hidden && column_applies(c, h->opts.type);
}

/* The columns it takes. */
static size_t top_text_put_sum(FILE *f, const struct top_state *s, const struct hist *h,
			       const struct hist_row *r, const struct column *c)
{
	uint64_t sum = hist_sum(h, r, c->key);

	if (c->hidden)
		return 0;
	if (c->key == KEY_SAMPLES || c->key == KEY_PERIOD)
		return (size_t)fprintf(f, "  %10llu", (unsigned long long)sum);
	top_text_percent(f, top_text_share(h, sum, s->relative));
	return 10;
}

/* Columns that are left in a line: long names would wrap, and push the rest off the screen. */
static int left_of(FILE *f, size_t used)
{
	unsigned all = term_width(f, 0);

	return !all ? INT_MAX : all > used + 8 ? (int)(all - used - 1) : 7;
}

/* Which rows are shown. */
static size_t rows_of(const struct top_state *s, const struct hist *h, size_t most,
		      double min_percent, const struct hist_row **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < h->rows.n && n < most; i++) {
		const struct hist_row *r = &h->rows.data[i];

		if (!r->hidden && r->count >= s->least &&
		    top_text_share(h, hist_weight(h, r), s->relative) >= min_percent)
			ret[n++] = r;
	}
	return n;
}

void top_print_heading(FILE *f, const struct top_state *s)
{
	top_text_bar(f);
	fprintf(f, "   kymo top: %.0f samples/sec  kernel: %.1f%%  lost: %llu  [%s]  (%s)\n",
		s->rate, s->kernel, (unsigned long long)s->lost, s->event, s->whom);
	if (s->idle > 0)
		fprintf(f, "   %.1f%% was idle: CPUs without work; --idle shows it\n", s->idle);
	top_text_bar(f);
}

/* Lines of rows that a screen has. */
static size_t lines_left(unsigned height)
{
	return !height ? SIZE_MAX : height > 5 ? height - 5 : 1;
}

void top_print_part(FILE *f, const char *text, unsigned height)
{
	size_t left = lines_left(height), n;

	for (; *text && left; left--, text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		fwrite(text, 1, n, f);
	}
}

/* Trees, call graphs and groups look as they do in a report. */
static bool is_report(const struct top_state *s, const struct hist *h)
{
	return s->tree || s->graph || h->n_members;
}

static void print_report(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
			 double min_percent)
{
	struct report_style style = { .percent_limit = min_percent,
				      .relative = s->relative,
				      .quiet = true,
				      .color = term_color(f) };
	struct graph_opts go = s->graph ? *s->graph : (struct graph_opts){ 0 };
	struct graphs g = { 0 };
	AUTO_FREE char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		return;
	go.relative = s->relative;
	if (s->graph)
		graphs_make(h, &go, &g);
	(s->tree ? report_tree : report_text)(to, &style, h, s->graph ? &g : NULL);
	fclose(to);
	if (s->graph)
		graphs_free(&g);
	/* the lines behind a report are for what follows there */
	while (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
		text[--n] = 0;
	top_print_part(f, text, height);
}

void top_print(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
	       double min_percent)
{
	const struct columns *cols = h->cells->opts.columns;
	AUTO_FREE const struct hist_row **row = mem_alloc((h->rows.n + 1) * sizeof(*row));
	size_t width[KEY_COLUMNS] = { 0 }, rows, used;
	char buf[1024];

	top_print_heading(f, s);
	if (is_report(s, h) && h->rows.n) {
		print_report(f, s, h, height, min_percent);
		return;
	}
	rows = rows_of(s, h, lines_left(height), min_percent, row);
	for (size_t i = 0; i < rows; i++)
		for (unsigned k = 0; k + 1 < cols->n; k++) {
			size_t n = top_text_is_text(h, &cols->col[k])
					   ? cell_length(h->cells, &cols->col[k], row[i]->at,
							 row[i]->count)
					   : 0;

			if (n > width[k])
				width[k] = n < 40 ? n : 40;
			if (cols->col[k].width)
				width[k] = (size_t)cols->col[k].width;
		}
	for (size_t i = 0; i < rows; i++) {
		used = 0;
		for (unsigned k = 0; k < cols->n; k++) {
			const struct column *c = &cols->col[k];

			if (c->value < 0)
				used += top_text_put_sum(f, s, h, row[i], c);
			if (!top_text_is_text(h, c))
				continue;
			used += 2;
			fprintf(f, "  %-*.*s", (int)width[k],
				c->width ? c->width : left_of(f, used),
				cell_text(h->cells, c, row[i]->at, row[i]->count, buf,
					  sizeof(buf)));
			used += width[k];
		}
		putc('\n', f);
	}
	if (!rows)
		fputs("   nothing yet\n", f);
}
