/* SPDX-License-Identifier: MIT */
/*
 * What the terminal can do: colours, width. Colour is for people: on a
 * terminal unless NO_COLOR is set or TERM is dumb, never in a pipe, unless
 * forced with term_set_color().
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum term_color_mode { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };
void term_set_color(enum term_color_mode mode);
bool term_color(FILE *f);

/* The escape for a style, or "" where f gets no colour. */
enum term_style {
	TERM_RESET,
	TERM_BOLD,
	TERM_DIM,
	TERM_RED,
	TERM_GREEN,
	TERM_YELLOW,
	TERM_BLUE,
	TERM_CYAN
};
const char *term_style(FILE *f, enum term_style s);
/* The escape itself, for who has asked term_color() before. */
const char *term_code(enum term_style s);

/* Columns of f, or fallback where it is no terminal. */
unsigned term_width(FILE *f, unsigned fallback);

/* Hot shares stand out, with perf's limits. */
static inline enum term_style term_heat(double percent)
{
	return percent >= 5 ? TERM_RED : percent > 0.5 ? TERM_GREEN : TERM_RESET;
}
