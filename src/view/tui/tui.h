/* SPDX-License-Identifier: MIT */
/*
 * The terminal user interface: reports one walks through.
 *
 * A model gives tables of rows and makes others when asked; the rest (call trees,
 * annotated functions, callers and callees) the interface finds out by itself from
 * the names and the profile behind a table. Without ncurses everything here
 * answers -ENOTSUP.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "calc/profile/names.h"
#include "calc/rows/annotate.h"
#include "calc/rows/hist.h"
#include "calc/stacks/calls.h"
#include "calc/table/table.h"
#include "sym/disasm/srctext.h"
#include "view/report/annotate.h"

struct tui_row {
	uint64_t self, total; /* weight here; here and below (the same without children) */
	uint64_t count;
	uint32_t frame; /* the function it is about; CALLS_NONE: it is about none */
	/* Of a tree: the row it stands below, which comes before it; TUI_TOP: none. */
	uint32_t parent;
	uint8_t depth;
	bool inner;  /* rows stand below it, whose sums it has */
	bool hidden; /* the user did not ask for it */
};

#define TUI_TOP UINT32_MAX
#define TUI_COLUMNS 16

/* One more number of every row: a group's other event, a sum of periods ... */
struct tui_sum {
	const char *title;
	uint64_t total; /* it is shown as a share of this; 0: as it is */
	int base;	/* whose rows are 100% when only what is left counts; -1: the table's */
	/* The number it stands behind: those with TUI_SUM_COUNT are shown when samples are. */
	enum { TUI_SUM_TOTAL, TUI_SUM_SELF, TUI_SUM_COUNT, TUI_SUM_LAST } behind;
};
#define TUI_SUMS 32

struct tui_table {
	const struct names *names;
	uint32_t type;
	bool children;	/* there are totals beside the own weights */
	bool chains;	/* rows can be opened */
	bool inwards;	/* then they show what was called, else who called */
	uint64_t total; /* what percentages are of */
	uint64_t count;
	unsigned n_sums; /* beside those of the rows */
	struct tui_sum sum[TUI_SUMS];
	const uint64_t *sums;  /* by row, n_sums each */
	int order_sum;	       /* which of them rows are to be sorted by at first; -1: none */
	const char *events;    /* of a group, for the title; NULL: the type's name */
	uint64_t events_total; /* of all of them */
	bool tree;	       /* rows stand below rows */
	unsigned n_columns;    /* of text; a tree has one, in which each row has its level's text */
	/* Columns with those that are only filtered and zoomed by: a tree's keys stand behind its
	 * one column. Rows have no text ("") in those of the levels below theirs. */
	unsigned n_keys;
	const char *column[TUI_COLUMNS];
	int thread_column, dso_column; /* which of them to zoom by; -1: none */
	const struct tui_row *row;
	size_t n_rows;
	struct tui_hist *own; /* what it was made of; NULL: it has only names */
};

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
/* --- view/tui/hist.c: makes the hist and its table --- */
void tui_hist_make(const struct names *n, const struct tui_hist_opts *o, struct tui_table *ret);
void tui_hist_free(struct tui_hist *o); /* NULL is fine */
const char *tui_hist_cell(const struct tui_hist *o, size_t row, unsigned column, char *buf,
			  size_t size);
/* Every entry of the profile that counts for a row, and where in its chain the row is (-1: at its
 * inner end). */
void tui_hist_each_entry(const struct tui_hist *o, size_t row,
			 void (*fn)(void *to, size_t entry, int64_t at), void *to);

struct tui_query {
	uint32_t type;
	const char *sort; /* as after --sort; NULL: as the command was told */
	int children;	  /* 0, 1; -1: as the command was told */
	bool refresh;	  /* live views: what has come since the last time too */
};

struct tui_model {
	void *ctx;
	const char *name; /* of the recording */
	const struct trace *trace;
	/* By type: the event in whose table it is shown; NULL: each has one of its own. */
	const uint32_t *leader;

	/* May take long; is called beside the screen. On failure *ret is untouched. */
	int (*make)(void *ctx, const struct tui_query *q, struct tui_table *ret, struct err *e);
	/* What the recording says of itself, one thing a line. The caller frees it. NULL: nothing.
	 */
	char *(*header)(void *ctx);
	/* Lines that stand below a report: loss and the like. NULL: none. */
	char *(*ending)(void *ctx);

	const char *note; /* told at the start; NULL: nothing */
	struct annotate_opts annotate;
	struct annotate_style style; /* of code, at first */
	struct srctext_opts source;
	double percent_limit;	    /* rows below it are not shown */
	double graph_percent_limit; /* the same for branches */
	bool samples;		    /* show numbers of samples */

	/* A live view: every so many ms a new table is made; 0: a recording. */
	int refresh_ms;
	void (*zero)(void *ctx);	      /* forget what was counted */
	const char *(*live_title)(void *ctx); /* rates and so on; may be NULL */
	/* How busy it was since the refresh before, in samples a second; NULL: that is not known.
	 */
	double (*live_level)(void *ctx);
	/* Called every poll_ms while the user does nothing, in every view. */
	int (*poll)(void *ctx, struct err *e);
	int poll_ms;
};

/* Can it be used here? Else why not. */
int tui_usable(struct err *e);

/* Until the user leaves. */
int tui_report(const struct tui_model *m, struct err *e);

/*
 * The same with a new table every m->refresh_ms, unless it is frozen. make is called on
 * the screen's own thread then and should be quick.
 */
int tui_top(const struct tui_model *m, struct err *e);

/*
 * Annotated functions alone, beginning with the one that choose (called once, with the
 * first table) answers; CALLS_NONE with e filled when there is none. The model needs only
 * make.
 */
typedef uint32_t tui_choose_fn(void *ctx, const struct tui_table *t, struct err *e);
int tui_annotate(const struct tui_model *m, tui_choose_fn *choose, struct err *e);

/*
 * Tables: sort, search, filter, scroll, and a page for each row, until the user leaves. title: what
 * the tables are of. Rows are sorted in t itself, and no longer by heading. -ENOTSUP without
 * ncurses, or another error where there is no terminal for it.
 */
int tui_tables(struct tables *t, const char *title, struct err *e);
