/* SPDX-License-Identifier: MIT */
/* A recording as the terminal interface's model: tables made by sort keys, again and again. */
#ifndef KYMO_CMD_REPORT_TUI_H
#define KYMO_CMD_REPORT_TUI_H

#include "calc/hist.h"
#include "event/trace.h"
#include "view/tui.h"

struct report_tui {
	struct source *source;
	struct symbols *symbols;
	const char *name; /* of the recording */
	const char *sort; /* keys that were asked for */
	bool children;
	bool chains; /* the recording has some, and they are wanted */
	unsigned max_stack;
	enum profile_want (*want)(void *ctx, const struct event *ev); /* filters; NULL: none */
	void *want_ctx;
	struct tui_model model; /* set what it needs; the callbacks are filled in */
};

int report_tui_run(struct report_tui *r, struct err *e);

#endif
