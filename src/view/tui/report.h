/* SPDX-License-Identifier: MIT */
/* The report view's own parts; others use tui.h. */
#pragma once

#include "view/tui/list.h"
#include "view/tui/tree.h"
#include "view/tui/tui.h"

/* Columns to sort by: the sums, the table's other sums, then the texts. */
enum {
	TUI_SORT_TOTAL,
	TUI_SORT_SELF,
	TUI_SORT_COUNT,
	TUI_SORT_SUM,
	TUI_SORT_TEXT = TUI_SORT_SUM + TUI_SUMS
};

/* A line of the list: a row, or (node set) a line of the tree below it. */
struct tui_report_line {
	uint32_t row;
	bool is_row;
	struct tui_tree_line tree;
};

typedef VEC(struct tui_report_line) tui_report_lines;

struct tui_zoom {
	unsigned column;
	char *text;
};

#define TUI_HISTORY 512

struct tui_view {
	const struct tui_model *m;
	struct tui_query query; /* that made the table */
	char *sort_text;	/* owned; query.sort */
	bool has_table;
	struct tui_table t;

	/* what is shown of it */
	unsigned sort_by;
	double percent_limit, graph_limit;
	char filter[128];
	VEC(struct tui_zoom) zooms; /* the newest last */
	bool samples;
	bool relative; /* shares of the rows that are left */

	/* made from that */
	struct tui_row *row; /* the table's; of a tree, inner rows have the sums of what is left */
	uint64_t *sums;	     /* the same of the table's sums */
	VEC(uint32_t) order; /* rows in their order */
	int width[TUI_COLUMNS];
	struct tui_tree *tree; /* by row of the table */
	bool *open;	       /* by row */
	tui_report_lines lines;
	uint64_t shown_self; /* weight of all rows in order */
	uint64_t shown_most; /* that, or of the row that has more with what it called */
	uint64_t heaviest;   /* of one row: what bars are measured by */

	uint64_t shown_sum[TUI_SUMS];

	struct tui_list list;
	struct tui_base base;

	bool frozen; /* live views */
	/* What the model's live_level said at each refresh; the newest is n_history - 1. */
	double history[TUI_HISTORY];
	unsigned n_history;
	struct srctext source;
};

/* view/tui/report.c */
void tui_view_init(struct tui_view *v, const struct tui_model *m);
void tui_view_free(struct tui_view *v);

/* view/tui/rows.c: from a table to lines */
int tui_rows_load(struct tui_view *v, const struct tui_query *q, struct err *e);
void tui_rows_unload(struct tui_view *v);
void tui_rows_order(struct tui_view *v); /* after filter, zoom, limit or sort changed */
void tui_rows_lines(struct tui_view *v); /* after something was opened or closed */
uint64_t tui_rows_weight(const struct tui_view *v, uint32_t row);
/* Columns its text begins after, the mark of a tree's row with them. */
#define TUI_INDENT 2
int tui_rows_indent(const struct tui_view *v, uint32_t row);
double tui_rows_percent(const struct tui_view *v, uint64_t weight);
void tui_rows_open(struct tui_view *v, uint32_t row, bool on);
bool tui_rows_opens(const struct tui_view *v, uint32_t row); /* is there something to open? */
/* Puts the cursor on a row, with all open that it stands below. */
void tui_rows_go(struct tui_view *v, uint32_t row);
/* How many events have samples, and which of them this is; the one after it. */
unsigned tui_rows_events(const struct tui_view *v, unsigned *which);
uint32_t tui_rows_next_event(const struct tui_view *v, bool back);
/* The line the cursor is on; NULL in an empty list. */
const struct tui_report_line *tui_rows_at(const struct tui_view *v);
/* The function the cursor is on; CALLS_NONE: none. */
uint32_t tui_rows_frame(const struct tui_view *v);
const char *tui_rows_cell(const struct tui_view *v, uint32_t row, unsigned column, char *buf,
			  size_t size);

/* view/tui/sums.c: columns of numbers, by what one sorts by (below TUI_SORT_TEXT) */
unsigned tui_sums_shown(const struct tui_view *v, unsigned *ret); /* in their order; how many */
const char *tui_sums_title(const struct tui_view *v, unsigned sum);
int tui_sums_width(const struct tui_view *v, unsigned sum);
uint64_t tui_sums_value(const struct tui_view *v, uint32_t row, unsigned sum);
void tui_sums_draw(const struct tui_view *v, struct tui_line *l, uint32_t row);
void tui_sums_print(const struct tui_view *v, FILE *f, uint32_t row);
/* The keys of searching; false when it is none of these. */
bool tui_rows_search(struct tui_view *v, int key);

/* view/tui/report_draw.c */
void tui_report_draw(void *view);
/* The line of the screen that the headings stand in; rows follow. */
int tui_report_head(const struct tui_view *v);
/* What is sorted by where the headings have this column; -1: nothing. */
int tui_report_head_at(const struct tui_view *v, int x);
void tui_report_print(const struct tui_view *v, FILE *f);

/* view/tui/report_keys.c: what a key does; TUI_QUIT or TUI_BACK to leave, -1 to stay */
int tui_report_key(void *view, int key);

/* Views that open from a function. type and names are the table's. */
enum tui_exit tui_annotate_view(const struct tui_model *m, const struct tui_table *t,
				uint32_t frame, struct srctext *source);
enum tui_exit tui_around_view(const struct tui_model *m, const struct tui_table *t, uint32_t frame,
			      struct srctext *source);
enum tui_exit tui_panes_view(const struct tui_model *m, const struct tui_table *t, uint32_t frame,
			     struct srctext *source);

extern const char tui_help_report[], tui_help_annotate[], tui_help_panes[], tui_help_around[];
