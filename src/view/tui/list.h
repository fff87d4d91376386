/* SPDX-License-Identifier: MIT */
/*
 * What every view is made of: a list with a cursor, searching in it, and the
 * small questions (menu, line of text, message, page of text).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "view/tui/screen.h"

/* Which of n lines are on the screen, and where the cursor is. */
struct tui_list {
	size_t n, at, top;
	int height; /* lines it has */
};
/* After n or height changed, or the cursor was set. */
void tui_list_fit(struct tui_list *l);
/* Draws its lines from `first` on, so many as there is room for; fn writes one. cursor: show it. */
typedef void tui_line_fn(void *ctx, struct tui_line *l, size_t at);
void tui_list_draw(struct tui_list *l, struct tui_line first, int height, bool cursor,
		   tui_line_fn *fn, void *ctx);
/* Arrows, j k, pages, Home End g G; false when it is none of these. */
bool tui_list_key(struct tui_list *l, int key);
/* The cursor to the line that stands at y, where the first of them stands at first; false: none
 * does. */
bool tui_list_click(struct tui_list *l, int y, int first);
/* "12/345" and how far down, for a corner. */
void tui_list_where(const struct tui_list *l, char *buf, size_t size);

/* Searching without regard to case, from the cursor on, around the end. */
struct tui_search {
	char text[128]; /* "": none yet */
};
typedef const char *tui_text_fn(void *ctx, size_t at, char *buf, size_t size);
/*
 * The keys / n N. Returns false for any other key. note gets what to tell ("not found").
 */
bool tui_search_key(struct tui_search *s, struct tui_list *l, int key, tui_text_fn *text, void *ctx,
		    char *note, size_t size);
/* Writes text with what was searched for in another style. */
void tui_put_found(struct tui_line *l, enum tui_style st, const char *text,
		   const struct tui_search *s);

/* Breaks text into lines of at most that many columns; calls fn (NULL: nobody) for each. How many.
 */
typedef void tui_wrap_fn(void *ctx, int at, const char *s, size_t n);
int tui_wrap(const char *text, int width, tui_wrap_fn *fn, void *ctx);

/* What a view was left with. */
enum tui_exit { TUI_BACK, TUI_QUIT };

/* What views with a list share: searching, moving, scrolling sideways, help, and how to leave. */
struct tui_base {
	struct tui_search search;
	char note[256]; /* told above the hints, until the next key */
	int skip;	/* columns scrolled to the right */
	int columns;	/* of a whole line; 0: not known */
	void *view;	/* for these: */
	void (*draw)(void *view);
	int (*key)(void *view, int key); /* TUI_QUIT or TUI_BACK to leave, -1 to stay */
	tui_text_fn *text;		 /* of a line, to search in */
	const char *help;		 /* the view's own keys */
};
/* What key() answers after another view was left. */
static inline int tui_base_back(enum tui_exit left)
{
	return left == TUI_QUIT ? TUI_QUIT : -1;
}
/* Draws it, waits for a key, and takes the note away when there was one. */
int tui_base_step(struct tui_base *b, int timeout_ms);
/* Such steps, until key() leaves it. */
enum tui_exit tui_base_run(struct tui_base *b);
/* What key() does with keys that mean the same in every view. l: the list one is in. */
int tui_base_key(struct tui_base *b, struct tui_list *l, int key);
/* The line above the hints, with where the cursor is at its right; what is left of it. */
struct tui_line tui_base_status(const struct tui_base *b, const struct tui_list *l);

/* One of the items, or -1. The letter of an item (0: none) chooses it at once. */
struct tui_item {
	const char *text;
	int letter;
	int id;
};
int tui_menu(const char *title, const struct tui_item *items, size_t n);

/* Edits text in place; false when it was left with Esc. */
bool tui_ask(const char *title, const char *hint, char *text, size_t size);

/*
 * Asks for the name of a new file, "kymo.NAME.0" and so on, and makes it: for the user's eyes only,
 * and never over one that is there. NULL: note says why, or the user thought better of it.
 */
FILE *tui_ask_file(const char *name, const char *hint, char *path, size_t size, char note[256]);

/* An error with its hint; any key takes it away. */
void tui_error(const struct err *e);

/* Lines of text to read, with search. */
enum tui_exit tui_page(const char *title, const char *text);

/* Keys of the whole program, as a page, behind the view's own. */
enum tui_exit tui_help(const char *keys);
