/* SPDX-License-Identifier: MIT */
#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static enum term_color_mode mode;

void term_set_color(enum term_color_mode m)
{
	mode = m;
}

bool term_color(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode != TERM_COLOR_AUTO)
		return mode == TERM_COLOR_ALWAYS;
	if (no && *no)
		return false;
	return isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
}

const char *term_style(FILE *f, enum term_style s)
{
	static const char *const codes[] = {
		[TERM_RESET] = "\033[0m", [TERM_BOLD] = "\033[1m",   [TERM_DIM] = "\033[2m",
		[TERM_RED] = "\033[31m",  [TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m",
		[TERM_BLUE] = "\033[34m", [TERM_CYAN] = "\033[36m",
	};

	return term_color(f) ? codes[s] : "";
}

unsigned term_width(FILE *f, unsigned fallback)
{
	struct winsize w;

	if (isatty(fileno(f)) && ioctl(fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col)
		return w.ws_col;
	return fallback;
}
