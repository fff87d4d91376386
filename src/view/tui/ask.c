/* SPDX-License-Identifier: MIT */
/* Small questions in a box over the view: a menu, a line of text, a message. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/str.h"
#include "view/tui/list.h"

static int clamp(int v, int low, int high)
{
	return v > high ? high : v < low ? low : v;
}

static void menu_line(void *ctx, struct tui_line *l, size_t at)
{
	const struct tui_item *item = (const struct tui_item *)ctx + at;

	tui_put(l, TUI_BOX, " ");
	if (item->letter)
		tui_printf(l, TUI_BOLD, "%c  ", item->letter);
	else
		tui_put(l, TUI_BOX, "   ");
	tui_put(l, TUI_BOX, item->text);
}

int tui_menu(const char *title, const struct tui_item *items, size_t n)
{
	struct tui_list l = { .n = n };
	int wanted = tui_columns(title) + 6;

	for (size_t i = 0; i < n; i++)
		if (tui_columns(items[i].text) + 8 > wanted)
			wanted = tui_columns(items[i].text) + 8;
	for (;;) {
		int width = clamp(wanted, 20, tui_width() > 4 ? tui_width() - 2 : tui_width());
		int height = clamp((int)n, 1, tui_height() > 5 ? tui_height() - 4 : 1), key;
		int y = (tui_height() - height - 2) / 2, x = (tui_width() - width) / 2;

		tui_box(y, x, height + 2, width, title);
		tui_list_draw(&l, tui_line_in(y + 1, x + 1, width - 2, false), height, true,
			      menu_line, (void *)(uintptr_t)items);
		key = tui_key(-1);
		if (key == TUI_KEY_CLICK) { /* beside it: away */
			int my, mx;

			tui_mouse_at(&my, &mx);
			return mx >= x && mx < x + width && tui_list_click(&l, my, y + 1)
				       ? items[l.at].id
				       : -1;
		}
		if (key == TUI_KEY_ENTER || key == TUI_KEY_RIGHT)
			return n ? items[l.at].id : -1;
		/* letters of items come before those that move */
		for (size_t i = 0; i < n; i++)
			if (items[i].letter && items[i].letter == key)
				return items[i].id;
		if (tui_list_key(&l, key))
			continue;
		if (key == TUI_KEY_RESIZE)
			tui_draw_behind();
		if (key == TUI_KEY_ESC || key == TUI_KEY_LEFT || key == 'q' || key == 'Q' ||
		    key == TUI_KEY_CLOSED)
			return -1;
	}
}

/* Takes off the last character, which may have several bytes. */
static void chop(char *text)
{
	size_t n = strlen(text);

	while (n && (text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n)
		text[n - 1] = 0;
}

static void tui_ask_append(char *text, size_t size, int key)
{
	char bytes[MB_LEN_MAX];
	mbstate_t st = { 0 };
	size_t n = wcrtomb(bytes, (wchar_t)key, &st), have = strlen(text);

	if (n == (size_t)-1 || have + n + 1 > size)
		return;
	memcpy(text + have, bytes, n);
	text[have + n] = 0;
}

bool tui_ask(const char *title, const char *hint, char *text, size_t size)
{
	AUTO_FREE char *before = mem_strdup(text);
	bool fresh = true; /* the first character replaces what was there */

	for (;;) {
		int width = clamp(60, 10, tui_width()), y = tui_height() / 2 - 2;
		int x = (tui_width() - width) / 2, columns = tui_columns(text), key;
		struct tui_line l;

		tui_box(y, x, 4, width, title);
		l = tui_line_in(y + 1, x + 2, width - 4, false);
		if (columns > width - 5) /* its end is what is being typed */
			l.skip = columns - (width - 5);
		tui_put(&l, fresh && *text ? TUI_FOUND : TUI_BOLD, text);
		tui_cursor(y + 1, l.x);
		l = tui_line_in(y + 2, x + 2, width - 4, false);
		tui_put(&l, TUI_DIM, hint);
		tui_cursor(y + 1, x + 2 + (columns > width - 5 ? width - 5 : columns));
		key = tui_key(-1);
		tui_cursor(-1, 0);
		if (key == TUI_KEY_ENTER)
			return true;
		if (key == TUI_KEY_ESC || key == TUI_KEY_CLOSED) {
			snprintf(text, size, "%s", before);
			return false;
		}
		if (key == TUI_KEY_RESIZE)
			tui_draw_behind();
		else if (key == TUI_KEY_BACKSPACE)
			chop(text);
		else if (key == 21) /* Ctrl-U */
			text[0] = 0;
		else if (key >= ' ' && key < TUI_KEY_UP) {
			if (fresh)
				text[0] = 0;
			tui_ask_append(text, size, key);
		}
		fresh = false;
	}
}

FILE *tui_ask_file(const char *name, const char *hint, char *path, size_t size, char note[256])
{
	unsigned i = 0;
	FILE *f;
	int fd;

	do
		snprintf(path, size, "kymo.%s.%u", name, i++);
	while (file_exists(path) && i < 10000);
	if (!tui_ask("Print to file", hint, path, size) || !path[0])
		return NULL;
	fd = output_growing(path, O_EXCL, 0600, NULL);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !f)
		close(fd);
	if (!f)
		snprintf(note, 256, "cannot write %.180s: %s", path,
			 strerror(fd < 0 ? -fd : errno));
	return f;
}

/* How much of n bytes goes on one line: to the last blank that fits. */
static size_t line_cut(const char *s, size_t n, int width)
{
	size_t room = width > 1 ? (size_t)width : 1, cut = room;

	if (n <= room)
		return n;
	while (cut > 0 && s[cut] != ' ')
		cut--;
	return cut ? cut : room;
}

int tui_wrap(const char *text, int width, tui_wrap_fn *fn, void *ctx)
{
	int lines = 0;

	while (*text) {
		size_t n = strcspn(text, "\n"), at = 0;

		do {
			size_t cut = line_cut(text + at, n - at, width);

			if (fn)
				fn(ctx, lines, text + at, cut);
			lines++;
			at += cut;
			at += at < n && text[at] == ' ';
		} while (at < n);
		text += n;
		text += *text == '\n';
	}
	return lines;
}

struct message_place {
	int y, x, width, height;
};

static void message_line(void *ctx, int at, const char *s, size_t n)
{
	const struct message_place *p = ctx;
	struct tui_line l = tui_line_in(p->y + 1 + at, p->x + 2, p->width - 4, false);

	if (at < p->height - 2)
		tui_putn(&l, TUI_PLAIN, s, n);
}

static void tui_message(const char *title, const char *text)
{
	tui_draw_behind(); /* without the box that asked for what did not work */
	for (;;) {
		struct message_place p = { .width = clamp(72, 10, tui_width()) };
		int key;

		p.height = clamp(tui_wrap(text, p.width - 4, NULL, NULL) + 2, 3, tui_height());
		p.y = (tui_height() - p.height) / 2;
		p.x = (tui_width() - p.width) / 2;
		tui_box(p.y, p.x, p.height, p.width, title);
		tui_wrap(text, p.width - 4, message_line, &p);
		key = tui_key(-1);
		if (key != TUI_KEY_RESIZE)
			return;
		tui_draw_behind();
	}
}

void tui_error(const struct err *e)
{
	AUTO_STRBUF b = { 0 };

	strbuf_puts(&b, e->msg);
	if (e->hint[0])
		strbuf_printf(&b, "\n\nhint: %s", e->hint);
	tui_message("That did not work", b.data);
}
