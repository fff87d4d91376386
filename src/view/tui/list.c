/* SPDX-License-Identifier: MIT */
#include "view/tui/list.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

int tui_view_key(void (*draw)(void *ctx), void *ctx, int timeout_ms)
{
	draw(ctx);
	tui_behind(draw, ctx);
	return tui_key(timeout_ms);
}

void tui_list_fit(struct tui_list *l)
{
	size_t h = l->height > 0 ? (size_t)l->height : 1;

	if (l->at >= l->n)
		l->at = l->n ? l->n - 1 : 0;
	if (l->at < l->top)
		l->top = l->at;
	if (l->at >= l->top + h)
		l->top = l->at - h + 1;
	/* no empty lines at the bottom while there is more above */
	if (l->top + h > l->n)
		l->top = l->n > h ? l->n - h : 0;
}

#define WHEEL 3 /* lines of a step */

/* What is seen moves; the cursor only as far as it must to be seen, too. */
static void scroll(struct tui_list *l, bool up)
{
	size_t h = l->height > 0 ? (size_t)l->height : 1, most = l->n > h ? l->n - h : 0;

	if (up)
		l->top -= l->top < WHEEL ? l->top : WHEEL;
	else
		l->top = l->top + WHEEL < most ? l->top + WHEEL : most;
	if (l->at < l->top)
		l->at = l->top;
	if (l->at >= l->top + h)
		l->at = l->top + h - 1;
}

bool tui_list_click(struct tui_list *l, int y, int first)
{
	size_t at = l->top + (size_t)(y - first);

	if (y < first || y >= first + l->height || at >= l->n)
		return false;
	l->at = at;
	return true;
}

bool tui_list_key(struct tui_list *l, int key)
{
	size_t page = l->height > 1 ? (size_t)l->height - 1 : 1;
	size_t last = l->n ? l->n - 1 : 0;

	switch (key) {
	case TUI_KEY_UP:
	case 'k': l->at -= l->at > 0; break;
	case TUI_KEY_DOWN:
	case 'j': l->at += l->at < last; break;
	case TUI_KEY_PAGE_UP: l->at -= l->at < page ? l->at : page; break;
	case TUI_KEY_PAGE_DOWN:
	case ' ': l->at = l->at + page < last ? l->at + page : last; break;
	case TUI_KEY_HOME:
	case 'g': l->at = 0; break;
	case TUI_KEY_END:
	case 'G': l->at = last; break;
	case TUI_KEY_WHEEL_UP:
	case TUI_KEY_WHEEL_DOWN: scroll(l, key == TUI_KEY_WHEEL_UP); break;
	default: return false;
	}
	tui_list_fit(l);
	return true;
}

void tui_list_where(const struct tui_list *l, char *buf, size_t size)
{
	char at[32], n[32];

	if (!l->n)
		snprintf(buf, size, "nothing");
	else
		snprintf(buf, size, "%s/%s", str_thousands(l->at + 1, at, sizeof(at)),
			 str_thousands(l->n, n, sizeof(n)));
}

static bool matches(const struct tui_search *s, const struct tui_list *l, size_t i,
		    tui_text_fn *text, void *ctx)
{
	char buf[2048];

	(void)l;
	return str_icontains(text(ctx, i, buf, sizeof(buf)), s->text);
}

/* The next line that matches in a direction; the cursor's own is the last to be tried. */
static bool tui_list_search(const struct tui_search *s, struct tui_list *l, bool back,
			    tui_text_fn *text, void *ctx, char *note, size_t size)
{
	for (size_t i = 1; i <= l->n; i++) {
		size_t at = (back ? l->at + l->n - i : l->at + i) % l->n;

		if (!matches(s, l, at, text, ctx))
			continue;
		if (back ? at >= l->at : at <= l->at)
			snprintf(note, size, "'%s': %s", s->text,
				 at == l->at ? "only here" : "went on from the other end");
		else
			snprintf(note, size, "'%s'", s->text);
		l->at = at;
		tui_list_fit(l);
		return true;
	}
	snprintf(note, size, "'%s' is not there", s->text);
	return false;
}

bool tui_search_key(struct tui_search *s, struct tui_list *l, int key, tui_text_fn *text, void *ctx,
		    char *note, size_t size)
{
	if (key != '/' && key != 'n' && key != 'N')
		return false;
	if (key == '/' || !s->text[0]) {
		if (!tui_ask("Search", "Enter finds, n and N go on, Esc leaves it", s->text,
			     sizeof(s->text)) ||
		    !s->text[0])
			return true;
		/* from here on: the cursor's line too */
		if (l->n && matches(s, l, l->at, text, ctx)) {
			snprintf(note, size, "'%s'", s->text);
			return true;
		}
		key = 'n';
	}
	if (l->n)
		tui_list_search(s, l, key == 'N', text, ctx, note, size);
	return true;
}

void tui_put_found(struct tui_line *l, enum tui_style st, const char *text,
		   const struct tui_search *s)
{
	size_t n = s ? strlen(s->text) : 0;

	while (n && *text) {
		const char *p = text;

		while (*p && strncasecmp(p, s->text, n) != 0)
			p++;
		if (!*p)
			break;
		tui_putn(l, st, text, (size_t)(p - text));
		tui_putn(l, TUI_FOUND, p, n);
		text = p + n;
	}
	tui_put(l, st, text);
}
