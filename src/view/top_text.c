/* SPDX-License-Identifier: MIT */
#include "view/top_text.h"

#include <string.h>

#include "base/str.h"
#include "base/term.h"

static void bar(FILE *f)
{
	for (unsigned i = 0; i < term_width(f, 80) - 1; i++)
		putc('-', f);
	putc('\n', f);
}

static char letter(const struct hist *h, const struct hist_row *r)
{
	return h->names->frames.data[r->frame].mode == EVENT_MODE_KERNEL ? 'k' : '.';
}

static double share(const struct hist *h, uint64_t weight)
{
	return h->total ? 100.0 * (double)weight / (double)h->total : 0;
}

static void percent(FILE *f, double p)
{
	enum term_style c = p >= 5 ? TERM_RED : p >= 0.5 ? TERM_GREEN : TERM_RESET;

	if (c == TERM_RESET)
		fprintf(f, "  %7.2f%%", p);
	else
		fprintf(f, "  %s%7.2f%%%s", term_style(f, c), p, term_style(f, TERM_RESET));
}

void top_print(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
	       double min_percent)
{
	size_t width[16] = { 0 }, rows = 0;
	char buf[1024];

	bar(f);
	fprintf(f, "   kymo top: %.0f samples/sec  kernel: %.1f%%  lost: %llu  [%s]  (%s)\n",
		s->rate, s->kernel, (unsigned long long)s->lost, s->event, s->whom);
	bar(f);
	while (rows < h->rows.n && (!height || rows + 5 < height) &&
	       share(h, h->opts.children ? h->rows.data[rows].total : h->rows.data[rows].self) >=
		       min_percent)
		rows++;
	for (size_t i = 0; i < rows; i++)
		for (unsigned k = 0; k + 1 < h->opts.n_keys; k++) {
			size_t n = strlen(hist_text(h, &h->rows.data[i], k, buf, sizeof(buf)));

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
		for (unsigned k = 0; k < h->opts.n_keys; k++) {
			const char *text = hist_text(h, r, k, buf, sizeof(buf));

			if (h->opts.key[k] == HIST_SYM)
				fprintf(f, "  [%c] %s", letter(h, r), text);
			else
				fprintf(f, "  %-*s", (int)width[k], text);
		}
		putc('\n', f);
	}
	if (!rows)
		fputs("   nothing yet\n", f);
}
