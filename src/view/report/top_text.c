/* SPDX-License-Identifier: MIT */

#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/term.h"
#include "view/report/report.h"

static void top_text_bar(FILE *f)
{
	for (unsigned i = 0; i < term_width(f, 80) - 1; i++)
		putc('-', f);
	putc('\n', f);
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

/* Bytes of a line that fit; colours take no room, and blanks at its end are none. */
static size_t top_text_fit(const char *line, size_t n, unsigned width)
{
	size_t at = 0;

	while (at < n && line[at] != '\n' && width) {
		if (line[at] == '\033')
			at += strcspn(line + at, "m");
		else
			width -= (line[at] & 0xc0) != 0x80;
		at++;
	}
	while (at && line[at - 1] == ' ')
		at--;
	return at;
}

void top_print_part(FILE *f, const char *text, unsigned height)
{
	size_t left = !height ? SIZE_MAX : height > 5 ? height - 5 : 1, n;
	unsigned width = term_width(f, 0);

	for (; *text && left; left--, text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		/* a line that wraps would push the rest off the screen */
		fwrite(text, 1, top_text_fit(text, n, width ? width : UINT_MAX), f);
		putc('\n', f);
	}
}

void top_print(FILE *f, const struct top_state *s, const struct hist *h, unsigned height,
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

	top_print_heading(f, s);
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
	if (n > 1)
		top_print_part(f, text, height);
	else
		fputs("   nothing yet\n", f);
}
