/* SPDX-License-Identifier: MIT */
/* Errors and warnings of a program, collected, and shown with the line and a caret. */
#include <string.h>

#include "base/term.h"
#include "lang/lang.h"

#define DIAGS_MAX 20

void lang_diags_free(struct lang_diags *d)
{
	vec_each (&d->list, it) {
		free(it->text);
		free(it->hint);
	}
	vec_free(&d->list);
}

void lang_diag(struct lang_diags *d, bool warning, uint32_t pos, uint32_t len, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	if (d->quiet)
		return;
	d->unsaid = true;
	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	vec_each (&d->list, old)
		if (old->pos == pos && strcmp(old->text, strbuf_str(&b)) == 0) {
			strbuf_free(&b);
			return;
		}
	d->errors += !warning;
	if (d->list.n >= DIAGS_MAX) {
		strbuf_free(&b);
		return;
	}
	d->unsaid = false;
	vec_push(&d->list,
		 (struct lang_diag){ .pos = pos, .len = len, .warning = warning, .text = b.data });
}

void lang_hint(struct lang_diags *d, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	if (d->quiet || d->unsaid || !d->list.n || d->list.data[d->list.n - 1].hint)
		return;
	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	d->list.data[d->list.n - 1].hint = b.data;
}

bool lang_hint_near(struct lang_diags *d, const struct str_nearest *near)
{
	char list[160];
	bool any = str_nearest_list(near, list, sizeof(list));

	if (any)
		lang_hint(d, "did you mean %s?", list);
	return any;
}

void lang_place(const char *text, size_t n, uint32_t pos, unsigned *line, unsigned *column)
{
	size_t start = 0;

	*line = 1;
	for (size_t i = 0; i < pos && i < n; i++)
		if (text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	*column = (unsigned)(pos - start) + 1;
}

static const char *diag_style(FILE *to, enum term_style s)
{
	return to ? term_style(to, s) : "";
}

#define CUT 3 /* "..." at either end of what is left of a line */

/* Long lines (one-liners) are cut around the place that is meant. */
static void show_line(const struct lang_diags *d, const struct lang_diag *it, unsigned column,
		      FILE *to_whom, struct strbuf *b)
{
	const unsigned all = to_whom ? term_width(to_whom, 0) : 0;
	const size_t wide = all > 40 ? all - 2 * CUT : 160;
	size_t start = it->pos - (column - 1), end = start, from, to;
	uint32_t len;

	while (end < d->n && d->source[end] != '\n')
		end++;
	from = it->pos - start > wide / 2 && end - start > wide ? it->pos - wide / 2 : start;
	if (from > start && end - from < wide) /* all of its end fits */
		from = end - wide;
	to = end - from > wide ? from + wide : end;
	if (from > start)
		strbuf_puts(b, "...");
	for (size_t i = from; i < to; i++)
		strbuf_putc(b, d->source[i] == '\t' ? ' ' : d->source[i]);
	strbuf_puts(b, to < end ? "...\n" : "\n");
	if (from > start)
		strbuf_puts(b, "   ");
	for (size_t i = from; i < it->pos; i++)
		if (((unsigned char)d->source[i] & 0xc0) != 0x80)
			strbuf_putc(b, ' ');
	len = it->len ? it->len : 1;
	if (it->pos + len > to)
		len = to > it->pos ? (uint32_t)(to - it->pos) : 1;
	strbuf_puts(b, diag_style(to_whom, it->warning ? TERM_YELLOW : TERM_RED));
	for (uint32_t i = 0; i < len; i++)
		strbuf_putc(b, i ? '~' : '^');
	strbuf_printf(b, "%s\n", diag_style(to_whom, TERM_RESET));
}

static int by_pos(const void *a, const void *b)
{
	const struct lang_diag *const *x = a, *const *y = b;

	return (*x)->pos < (*y)->pos ? -1 : (*x)->pos > (*y)->pos ? 1 : *x < *y ? -1 : 1;
}

void lang_diags_text(const struct lang_diags *d, FILE *to, struct strbuf *b)
{
	const struct lang_diag *sorted[DIAGS_MAX] = { NULL };
	size_t n = 0;

	vec_each (&d->list, it)
		if (n < DIAGS_MAX)
			sorted[n++] = it;
	qsort(sorted, n, sizeof(sorted[0]), by_pos);
	for (size_t i = 0; i < n; i++) {
		const struct lang_diag *it = sorted[i];
		unsigned line, column;

		lang_place(d->source, d->n, it->pos > d->n ? (uint32_t)d->n : it->pos, &line,
			   &column);
		strbuf_printf(b, "%s:%u:%u: %s%s: %s%s\n", d->name ? d->name : "program", line,
			      column, diag_style(to, it->warning ? TERM_YELLOW : TERM_RED),
			      it->warning ? "warning" : "error", diag_style(to, TERM_RESET),
			      it->text);
		if (d->source && it->pos <= d->n)
			show_line(d, it, column, to, b);
		if (it->hint)
			strbuf_printf(b, "%shint:%s %s\n", diag_style(to, TERM_CYAN),
				      diag_style(to, TERM_RESET), it->hint);
	}
	if (d->errors > n)
		strbuf_printf(b, "and %u more errors\n", d->errors - (unsigned)n);
}
