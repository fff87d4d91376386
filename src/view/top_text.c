/* SPDX-License-Identifier: MIT */
#include "view/top_text.h"

#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "base/term.h"

static void bar(FILE *f)
{
	for (unsigned i = 0; i < term_width(f, 80) - 1; i++)
		putc('-', f);
	putc('\n', f);
}

static double share(const struct hist *h, uint64_t weight)
{
	return h->weight ? 100.0 * (double)weight / (double)h->weight : 0;
}

static void percent(FILE *f, double p)
{
	enum term_style c = p >= 5 ? TERM_RED : p >= 0.5 ? TERM_GREEN : TERM_RESET;

	if (c == TERM_RESET)
		fprintf(f, "  %7.2f%%", p);
	else
		fprintf(f, "  %s%7.2f%%%s", term_style(f, c), p, term_style(f, TERM_RESET));
}

/* Sums have columns of their own. */
static bool shows(const struct column *c)
{
	return c->value >= 0 && !c->hidden;
}

/* Columns that are left in a line: long names would wrap, and push the rest off the screen. */
static int left_of(FILE *f, size_t used)
{
	unsigned all = term_width(f, 0);

	return !all ? INT_MAX : all > used + 8 ? (int)(all - used - 1) : 7;
}

void top_print(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
	       double min_percent)
{
	const struct columns *cols = h->cells->opts.columns;
	size_t width[KEY_COLUMNS] = { 0 }, rows = 0, used;
	char buf[1024];

	bar(f);
	fprintf(f, "   kymo top: %.0f samples/sec  kernel: %.1f%%  lost: %llu  [%s]  (%s)\n",
		s->rate, s->kernel, (unsigned long long)s->lost, s->event, s->whom);
	bar(f);
	while (rows < h->rows.n && (!height || rows + 5 < height) &&
	       share(h, hist_weight(h, &h->rows.data[rows])) >= min_percent)
		rows++;
	for (size_t i = 0; i < rows; i++)
		for (unsigned k = 0; k + 1 < cols->n; k++) {
			const struct hist_row *r = &h->rows.data[i];
			size_t n = shows(&cols->col[k])
					   ? strlen(cell_text(h->cells, &cols->col[k], r->at,
							      r->count, buf, sizeof(buf)))
					   : 0;

			if (n > width[k])
				width[k] = n < 40 ? n : 40;
		}
	for (size_t i = 0; i < rows; i++) {
		const struct hist_row *r = &h->rows.data[i];

		if (h->opts.children)
			percent(f, share(h, r->total));
		percent(f, share(h, r->self));
		if (s->samples)
			fprintf(f, "  %10llu", (unsigned long long)r->count);
		used = 10 + (h->opts.children ? 10 : 0) + (s->samples ? 12 : 0);
		for (unsigned k = 0; k < cols->n; k++) {
			if (!shows(&cols->col[k]))
				continue;
			used += 2;
			fprintf(f, "  %-*.*s", (int)width[k], left_of(f, used),
				cell_text(h->cells, &cols->col[k], r->at, r->count, buf,
					  sizeof(buf)));
			used += width[k];
		}
		putc('\n', f);
	}
	if (!rows)
		fputs("   nothing yet\n", f);
}
