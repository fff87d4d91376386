/* SPDX-License-Identifier: MIT */
#include "base/term.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/guard.h"

static enum term_color_mode mode;
static atomic_int out_is; /* whether stdout is a terminal: 1 no, 2 yes; 0: not asked yet */

void term_set_color(enum term_color_mode m)
{
	mode = m;
	atomic_store(&out_is, 0);
}

/* Asked for every cell of a table: the kernel is asked once. */
static bool is_terminal(FILE *f)
{
	int is = f == stdout ? atomic_load_explicit(&out_is, memory_order_relaxed) : 0;

	if (!is) {
		is = isatty(guard_fileno(f)) ? 2 : 1;
		if (f == stdout)
			atomic_store_explicit(&out_is, is, memory_order_relaxed);
	}
	return is == 2;
}

bool term_color(FILE *f)
{
	const char *no, *term;

	if (mode != TERM_COLOR_AUTO)
		return mode == TERM_COLOR_ALWAYS;
	if (!is_terminal(f))
		return false;
	no = getenv("NO_COLOR");
	term = getenv("TERM");
	return !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *term_code(enum term_style s)
{
	static const char *const codes[] = {
		[TERM_RESET] = "\033[0m", [TERM_BOLD] = "\033[1m",   [TERM_DIM] = "\033[2m",
		[TERM_RED] = "\033[31m",  [TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m",
		[TERM_BLUE] = "\033[34m", [TERM_CYAN] = "\033[36m",
	};

	return codes[s];
}

const char *term_style(FILE *f, enum term_style s)
{
	return term_color(f) ? term_code(s) : "";
}

unsigned term_width(FILE *f, unsigned fallback)
{
	struct winsize w;

	if (isatty(guard_fileno(f)) && ioctl(guard_fileno(f), TIOCGWINSZ, &w) == 0 && w.ws_col)
		return w.ws_col;
	return fallback;
}
