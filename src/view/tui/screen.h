/* SPDX-License-Identifier: MIT */
/*
 * The terminal as a screen: on and off, keys, and lines of styled text.
 *
 * What is shown may come from untrusted files: text is taken as UTF-8, cut by
 * the columns it fills, and whatever is no printable character shows as '?'.
 * The terminal is put back on every way out, also by signals and crashes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Keys: characters are themselves; the rest is here. */
enum tui_key {
	TUI_KEY_NONE = 0, /* the time is up */
	TUI_KEY_TAB = '\t',
	TUI_KEY_ENTER = '\n',
	TUI_KEY_ESC = 27,
	TUI_KEY_BACKSPACE = 127,
	TUI_KEY_UP = 0x200000, /* above all characters */
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_DELETE,
	TUI_KEY_BACK_TAB,
	TUI_KEY_SHIFT_LEFT,
	TUI_KEY_SHIFT_RIGHT,
	TUI_KEY_RESIZE,
	TUI_KEY_HELP,	/* F1 */
	TUI_KEY_CLOSED, /* the terminal is gone */
	/* the mouse: tui_mouse_at() says where */
	TUI_KEY_CLICK,
	TUI_KEY_DOUBLE, /* the second of two clicks at the same place; the first came before */
	TUI_KEY_WHEEL_UP,
	TUI_KEY_WHEEL_DOWN,
	TUI_KEY_OTHER,
};

enum tui_style {
	TUI_PLAIN,
	TUI_BOLD,
	TUI_DIM,
	TUI_TITLE, /* the bar at the top */
	TUI_HEAD,  /* headings of columns */
	TUI_HINT,  /* the bar at the bottom */
	TUI_HINT_KEY,
	TUI_HOT,    /* shares from 5% */
	TUI_WARM,   /* from 0.5% */
	TUI_SOURCE, /* source text */
	TUI_ARROW,
	TUI_FOUND, /* what a search found */
	TUI_ERROR,
	TUI_BOX, /* menus and questions */
	TUI_STYLES
};

/* Is there a terminal this can work on? Says why not. */
int tui_possible(struct err *e);
int tui_start(struct err *e);
void tui_end(void); /* also when it was not started */

int64_t tui_now_ms(void);
int tui_height(void);
int tui_width(void);
bool tui_unicode(void); /* lines and arrows can be shown */

/*
 * While keys are waited for, call fn every so many ms; a negative answer makes
 * tui_key() answer TUI_KEY_CLOSED from then on. ms 0: no more.
 */
void tui_every(int ms, int (*fn)(void *ctx), void *ctx);

/* Shows what was drawn, and waits for a key; timeout_ms < 0: as long as it takes. */
int tui_key(int timeout_ms);
/* Where the last click was. */
void tui_mouse_at(int *y, int *x);
/* While the mouse is asked for, terminals select text only with Shift. On at first. */
void tui_mouse(bool on);
bool tui_mouse_is_on(void);
void tui_show(void);
void tui_clear(void);
/*
 * What stands behind boxes: a view says it before it waits for keys, and a box that
 * must be drawn anew on a screen of another size draws that first.
 */
void tui_behind(void (*draw)(void *ctx), void *ctx);
void tui_draw_behind(void);

/*
 * A line being written, from x to before end. Everything is clipped; skip drops
 * columns at the front (scrolled sideways).
 */
struct tui_line {
	int y, x, end, skip;
	bool selected;
};
struct tui_line tui_line(int y, bool selected); /* the whole width */
struct tui_line tui_line_in(int y, int x, int width, bool selected);
void tui_put(struct tui_line *l, enum tui_style s, const char *text);
void tui_putn(struct tui_line *l, enum tui_style s, const char *text, size_t n);
__attribute__((format(printf, 3, 4))) void tui_printf(struct tui_line *l, enum tui_style s,
						      const char *fmt, ...);
/* Exactly that many columns: cut or filled up with blanks. */
void tui_cell(struct tui_line *l, enum tui_style s, const char *text, int width);
void tui_fill(struct tui_line *l, enum tui_style s); /* blanks to the end */

/* How many columns a text fills. */
int tui_columns(const char *text);
/* The text, or into buf as much of it as fits with a mark that it was cut. */
const char *tui_cut(const char *text, int width, char *buf, size_t size);
/* The same with its end, as paths are told apart by theirs. */
const char *tui_cut_front(const char *text, int width, char *buf, size_t size);

/* The style of a share. */
enum tui_style tui_heat(double percent);

/* The two bars: title (right may be NULL), and key hints "key word  key word". */
void tui_title(const char *left, const char *right);
void tui_hints(const char *const *pairs); /* key, word, key, word ... NULL; those that fit */

/* A box with lines of blanks; its inner part begins at (y + 1, x + 2). */
void tui_box(int y, int x, int height, int width, const char *title);
/* Where the cursor blinks; y < 0: nowhere. */
void tui_cursor(int y, int x);

/*
 * Runs fn(ctx) beside the screen: where it takes long, a box says so, and
 * Ctrl-C still works. Returns what fn returned.
 */
int tui_busy(const char *what, int (*fn)(void *ctx), void *ctx);
