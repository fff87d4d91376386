/* SPDX-License-Identifier: MIT */
/* Reports as text in perf's layout, CSV and JSON. */
#ifndef KYMO_VIEW_REPORT_H
#define KYMO_VIEW_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "calc/graph.h"
#include "calc/hist.h"

struct report_style {
	enum { REPORT_TEXT, REPORT_CSV, REPORT_JSON } form;
	const char *sep;
	bool samples; /* -n */
	bool weights; /* --show-total-period */
	double percent_limit;
	bool relative;	 /* --percentage relative: of what the filters left */
	bool skip_first; /* graphs need not repeat the function the row names first */
};

/* One event's part: heading, columns, rows, graphs (NULL: none). */
void report_print(FILE *f, const struct report_style *s, const struct hist *h,
		  const struct graphs *g, const struct graph_opts *go);

/* What every report ends with: lost events, cut stacks, names that were not found. */
struct report_end {
	uint64_t samples, lost, unresolved, stacks, cut_stacks;
	const char *note;
};
void report_print_end(FILE *f, const struct report_end *e);

/* The graph of one row, as below it in a report. */
void report_print_graph(FILE *f, const struct hist *h, const struct graph_opts *o,
			const struct graph_node *root, uint64_t row_weight, bool skip_first);

#endif
