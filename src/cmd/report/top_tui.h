/* SPDX-License-Identifier: MIT */
/* A live capture as the terminal interface's model. */
#ifndef KYMO_CMD_REPORT_TOP_TUI_H
#define KYMO_CMD_REPORT_TOP_TUI_H

#include "calc/profile/profile.h"
#include "calc/read/pick.h"
#include "calc/rows/hist.h"
#include "cmd/report/codestyle.h"
#include "cmd/report/top_era.h"
#include "view/tui/tui.h"

struct top_tui {
	struct trace *trace;
	struct profile_builder *counted;
	struct top_eras *eras;
	const struct columns *columns;
	const struct extra_plan *plan; /* made for these columns */
	unsigned by;		       /* PROFILE_BY_*: what samples are counted apart by */
	const struct pick *pick;
	struct names_opts names;
	bool chains, children;
	bool tree;		/* a level for each key */
	bool without_idle;	/* calc/read/idle.h */
	const uint32_t *leader; /* groups, as tui_hist.h has them */
	unsigned order_member;
	double keep; /* of what was counted, at each refresh */
	int refresh_ms;
	const struct codestyle *code;
	bool samples;
	double percent_limit;
	int (*parse_sort)(void *ctx, const char *text, struct columns *c, struct err *e);
	/* Takes what has come since the last call; every poll_ms. */
	int (*poll)(void *ctx, struct err *e);
	int poll_ms;
	/* The title for the time since the last refresh, which ends now. */
	const char *(*title)(void *ctx, double *rate); /* rate: samples a second */
	void *ctx;
};

int top_tui_run(const struct top_tui *t, struct err *e);

#endif
