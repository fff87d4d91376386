/* SPDX-License-Identifier: MIT */
/* Rows of a hist as a table of the terminal interface: the only place that knows both. */
#ifndef KYMO_CMD_REPORT_TUI_HIST_H
#define KYMO_CMD_REPORT_TUI_HIST_H

#include "calc/rows/hist.h"
#include "view/tui/tui.h"

struct tui_hist_opts {
	struct cells_opts cells; /* its columns are copied */
	struct hist_opts hist;
	bool chains;
	bool tree; /* a level for each key, as --hierarchy has it */
	/* By type: in whose table it is shown (see tui_model); NULL: each in its own. */
	const uint32_t *leader;
	unsigned order_member; /* the group's event that decides the order; 0: the leader */
	bool forced_group;     /* events that did not count together */
	/* Called when the table is released, for what the names belong to; NULL: nothing. */
	void (*drop)(void *ctx);
	void *ctx;
};

/* Makes the hist and its table. */
void tui_hist_make(const struct names *n, const struct tui_hist_opts *o, struct tui_table *ret);

/* For tui_model; their ctx is not used. */
void tui_hist_release(void *ctx, struct tui_table *t);
const char *tui_hist_cell(void *ctx, const struct tui_table *t, size_t row, unsigned column,
			  char *buf, size_t size);
void tui_hist_each_entry(void *ctx, const struct tui_table *t, size_t row,
			 void (*fn)(void *to, size_t entry, int64_t at), void *to);

#endif
