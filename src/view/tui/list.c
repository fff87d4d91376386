/* SPDX-License-Identifier: MIT */
#include "view/tui/list.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

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

void tui_list_draw(struct tui_list *l, struct tui_line first, int height, bool cursor,
		   tui_line_fn *fn, void *ctx)
{
	l->height = height;
	tui_list_fit(l);
	for (int i = 0; i < height && l->top + (size_t)i < l->n; i++) {
		struct tui_line line = first;

		line.y += i;
		line.selected = cursor && l->top + (size_t)i == l->at;
		fn(ctx, &line, l->top + (size_t)i);
		tui_fill(&line, TUI_PLAIN);
	}
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

static bool matches(const struct tui_search *s, size_t i, tui_text_fn *text, void *ctx)
{
	char buf[2048];

	return str_icontains(text(ctx, i, buf, sizeof(buf)), s->text);
}

/* The next line that matches in a direction; the cursor's own is the last to be tried. */
static bool tui_list_search(const struct tui_search *s, struct tui_list *l, bool back,
			    tui_text_fn *text, void *ctx, char *note, size_t size)
{
	for (size_t i = 1; i <= l->n; i++) {
		size_t at = (back ? l->at + l->n - i : l->at + i) % l->n;

		if (!matches(s, at, text, ctx))
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
		if (l->n && matches(s, l->at, text, ctx)) {
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

/* --- what views share --- */

#define SIDEWAYS 8 /* columns of a step */

int tui_base_step(struct tui_base *b, int timeout_ms)
{
	int key;

	b->draw(b->view);
	tui_behind(b->draw, b->view);
	key = tui_key(timeout_ms);
	if (key != TUI_KEY_NONE && key != TUI_KEY_RESIZE)
		b->note[0] = 0;
	return key;
}

enum tui_exit tui_base_run(struct tui_base *b)
{
	int left = -1;

	while (left < 0)
		left = b->key(b->view, tui_base_step(b, -1));
	return (enum tui_exit)left;
}

static void tui_base_sideways(struct tui_base *b, int by)
{
	int most = b->columns > tui_width() ? b->columns - tui_width() : b->columns ? 0 : INT_MAX;

	b->skip += by;
	b->skip = b->skip > most ? most : b->skip < 0 ? 0 : b->skip;
}

int tui_base_key(struct tui_base *b, struct tui_list *l, int key)
{
	switch (key) {
	case 'q': return TUI_BACK;
	case 'Q':
	case TUI_KEY_CLOSED: return TUI_QUIT;
	case '?':
	case 'h':
	case TUI_KEY_HELP: return tui_base_back(tui_help(b->help));
	case '{':
	case TUI_KEY_SHIFT_LEFT: tui_base_sideways(b, -SIDEWAYS); break;
	case '}':
	case TUI_KEY_SHIFT_RIGHT: tui_base_sideways(b, SIDEWAYS); break;
	default:
		if (!tui_search_key(&b->search, l, key, b->text, b->view, b->note, sizeof(b->note)))
			tui_list_key(l, key);
	}
	return -1;
}

struct tui_line tui_base_status(const struct tui_base *b, const struct tui_list *l)
{
	struct tui_line line = tui_line(tui_height() - 2, false), right = line;
	char where[64];

	tui_list_where(l, where, sizeof(where));
	right.x = tui_width() - tui_columns(where) - 1;
	line.end = right.x - 1;
	tui_put(&right, TUI_DIM, where);
	tui_put(&line, TUI_PLAIN, " ");
	tui_put(&line, TUI_BOLD, b->note);
	return line;
}
