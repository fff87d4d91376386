/* SPDX-License-Identifier: MIT */
/* A recording as the terminal interface's model: tables made by sort keys, again and again. */
#ifndef KYMO_CMD_REPORT_TUI_H
#define KYMO_CMD_REPORT_TUI_H

#include "calc/read/idle.h"
#include "calc/rows/hist.h"
#include "cmd/share/load.h"
#include "view/tui/tui.h"

struct report_tui {
	struct load *load;	     /* opened, with symbols */
	const char *name;	     /* of the recording */
	struct columns_opts columns; /* as the user wants them */
	struct cells_opts cells;     /* columns and plan are set here */
	struct hist_opts hist;
	struct names_opts names;
	bool children;
	bool tree; /* a level for each key */
	/* Groups, as tui_hist.h has them. */
	const uint32_t *leader;
	unsigned order_member;
	bool forced_group;
	bool without_idle;    /* calc/read/idle.h */
	const char *counters; /* of threads (-T), to read with the header; NULL: not wanted */
	bool chains;	      /* the recording has some, and they are wanted */
	unsigned max_stack;
	uint64_t time_quantum;
	enum profile_unit unit;
	/* Told before the names of a profile are asked for. */
	void (*naming)(void *ctx, const struct profile *p, const struct extra_plan *plan);
	void *naming_ctx;
	struct tui_model model; /* set what it needs; the callbacks are filled in */
};

int report_tui_run(struct report_tui *r, struct err *e);

#endif
