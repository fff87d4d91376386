/* SPDX-License-Identifier: MIT */
/*
 * What report's files share.
 *
 *	report.c	the options
 *	report_graph.c	what -g takes
 *	cmd/report/run.c	from the recording to what rows are made of
 *	cmd/report/show.c	the rows, as text, CSV or JSON
 *	cmd/report/other.c	what is no report of samples: --stats, --tasks, --mmaps, -T, -D
 */
#pragma once

#include <limits.h>
#include <regex.h>

#include "base/json.h"
#include "calc/read/idle.h"
#include "calc/stacks/graph.h"
#include "cmd/command.h"
#include "cmd/report/codestyle.h"
#include "cmd/share/load.h"
#include "view/report/report.h"

#define REPORT_ALL_FRAMES INT_MAX

/* What -g says. */
struct report_graph {
	struct graph_opts opts;
	bool no_graph, order_given, caller, branch_history;
};

struct report_args {
	struct load_opts load;
	struct columns_opts columns; /* what the user says of them */
	const char *sep, *csv, *parent, *ignore_callees, *symbol_part;
	const char *percentage, *time_quantum;
	struct report_graph graph;
	struct codestyle code; /* of annotated functions, on a terminal */
	bool graph_given, inverted;
	bool stdio, children, json;
	bool group, group_given, hierarchy, header, header_only, info;
	bool stats, tasks, mmaps, dump, threads, raw_counters;
	bool inlines, inlines_given, hide_unresolved, exclude_other, skip_empty;
	bool branch, branch_given, memory, full_lines, ns, quiet;
	bool demangle, idle;
	int max_stack; /* REPORT_ALL_FRAMES when it was not given */
	int verbose, group_sort, socket;
	double percent_limit;
	char **files; /* words that are no options */
	int n_files;
};

/* A report of samples on its way. */
struct report {
	struct report_args *a;
	struct load load;
	struct columns columns;
	struct cells cells;
	struct report_style style;
	struct report_end end;
	struct json json;
	enum key_mode mode;
	regex_t parent, callees;
	bool has_parent, has_callees;
	bool chains; /* samples have call chains */
	bool children, graphs, caller;
	bool *site_wanted;
	uint32_t *leader; /* by type: the event beside whose rows it is shown */
	bool without_idle;
	struct idle idle; /* what was left out */
	uint64_t quantum;
	int shown; /* events */
	/* What is being named: of the load, or a table's of the terminal interface. */
	const struct profile *named;
	const struct extra_plan *named_plan;
};

/* "graph,0.5,caller": added to what is there. */
int report_parse_graph(struct report_graph *g, const char *text, struct err *e);

int report_run(struct report_args *a, struct err *e);

struct columns_opts report_columns_opts(const struct report *r);
struct names_opts report_names_opts(struct report *r);
struct cells_opts report_cells_opts(struct report *r);
struct profile_opts report_profile_opts(const struct report *r, unsigned by);
/* Of what names are asked for from now on. */
void report_now_named(struct report *r, const struct profile *p, const struct extra_plan *plan);
bool report_has_no_frames(const struct report_args *a);

/* On a terminal: tables made by sort keys, again and again. */
int report_tui_run(struct report *r, struct err *e);

/* Did events count together when they were recorded? */
bool report_has_groups(const struct trace *t);

/* Sets leader. */
void report_find_leaders(struct report *r);

/* Prints all that cells hold, and how the report ends. */
int report_show(struct report *r, struct err *e);

/* The rest of report.c's ways; each prints and returns 0 or -errno. */
int report_stats(struct load *l, const struct report_args *a, struct err *e);
int report_tasks(struct load *l, const struct report_args *a, struct err *e);
int report_counters(FILE *f, struct load *l, const struct report_args *a, struct err *e);
int report_dump(struct load *l, const struct report_args *a, struct err *e);
