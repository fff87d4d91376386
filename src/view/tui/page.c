/* SPDX-License-Identifier: MIT */
/* A page of text to read: help, and what a recording says of itself. */
#include <stdio.h>

#include "base/str.h"
#include "base/vec.h"
#include "view/tui/list.h"

struct page {
	const char *title, *text;
	int width;
	VEC(const char *) line;
	VEC(size_t) len;
	struct tui_list list;
	struct tui_base base;
};

static const char *page_text(void *ctx, size_t at, char *buf, size_t size)
{
	const struct page *p = ctx;

	if (at >= p->line.n || at >= p->len.n)
		return "";
	snprintf(buf, size, "%.*s", (int)p->len.data[at], p->line.data[at]);
	return buf;
}

static void tui_page_add_line(void *ctx, int at, const char *s, size_t n)
{
	struct page *p = ctx;

	vec_push(&p->line, s);
	vec_push(&p->len, n);
}

/* The lines as the screen's width breaks them. */
static void tui_page_fold(struct page *p)
{
	p->line.n = p->len.n = 0;
	p->width = tui_width();
	tui_wrap(p->text, p->width - 2, tui_page_add_line, p);
	p->list.n = p->line.n;
}

/* A line that ends in a colon is a heading. */
static void tui_page_line(void *ctx, struct tui_line *l, size_t at)
{
	struct page *p = ctx;
	char buf[2048];
	const char *text = page_text(p, at, buf, sizeof(buf));

	tui_put(l, TUI_PLAIN, " ");
	tui_put_found(l, str_ends(text, ":") ? TUI_BOLD : TUI_PLAIN, text, &p->base.search);
}

static void tui_page_draw(void *ctx)
{
	static const char *const hints[] = { "PgUp/PgDn", "turn", "/", "search", "n/N", "again",
					     "q",	  "back", "Q", "quit",	 NULL };
	struct page *p = ctx;
	struct tui_list *l = &p->list;
	char where[64];

	if (p->width != tui_width())
		tui_page_fold(p);
	l->height = tui_height() - 2 - (p->base.note[0] != 0);
	tui_list_fit(l);
	tui_clear();
	tui_list_where(l, where, sizeof(where));
	tui_title(p->title, where);
	tui_list_draw(l, tui_line(1, false), l->height, false, tui_page_line, p);
	if (p->base.note[0]) {
		struct tui_line line = tui_line(tui_height() - 2, false);

		tui_put(&line, TUI_BOLD, p->base.note);
	}
	tui_hints(hints);
}

/* There is no cursor: keys move the text. */
static void page_key(struct tui_list *l, int key)
{
	size_t h = l->height > 0 ? (size_t)l->height : 1, last = l->n > h ? l->n - h : 0;

	switch (key) {
	case TUI_KEY_UP:
	case 'k': l->top -= l->top > 0; break;
	case TUI_KEY_DOWN:
	case TUI_KEY_ENTER:
	case 'j': l->top += l->top < last; break;
	case TUI_KEY_PAGE_UP: l->top -= l->top < h ? l->top : h; break;
	case TUI_KEY_PAGE_DOWN:
	case ' ': l->top = l->top + h < last ? l->top + h : last; break;
	case TUI_KEY_HOME:
	case 'g': l->top = 0; break;
	case TUI_KEY_END:
	case 'G': l->top = last; break;
	default: return;
	}
	l->at = l->top;
}

enum tui_exit tui_page(const char *title, const char *text)
{
	struct page p = { .title = title,
			  .text = text,
			  .base = { .view = &p, .draw = tui_page_draw } };
	int key;

	do {
		key = tui_base_step(&p.base, -1);
		if (!tui_search_key(&p.base.search, &p.list, key, page_text, &p, p.base.note,
				    sizeof(p.base.note)))
			page_key(&p.list, key);
	} while (key != 'q' && key != 'Q' && key != TUI_KEY_ESC && key != TUI_KEY_LEFT &&
		 key != TUI_KEY_CLOSED);
	vec_free(&p.line);
	vec_free(&p.len);
	return key == 'Q' || key == TUI_KEY_CLOSED ? TUI_QUIT : TUI_BACK;
}
