/* SPDX-License-Identifier: MIT */
/*
 * What top's files share.
 *
 *	top.c		the options
 *	top_run.c	sampling, counting, and the text
 *	top_tui.c	the same on a terminal
 */
#ifndef KYMO_CMD_REPORT_TOP_H
#define KYMO_CMD_REPORT_TOP_H

#include "calc/read/gate.h"
#include "calc/read/pick.h"
#include "calc/stacks/graph.h"
#include "cmd/report/codestyle.h"
#include "event/spec/spec.h"
#include "live/capture/capture.h"

struct top_args {
	struct spec_list events;
	struct target_opts target;
	struct capture_opts capture;
	struct pick_opts pick; /* comms, dsos, symbols */
	struct gate_opts gate;
	const char *sort, *fields, *widths, *percentage, *ignore_callees, *kallsyms, *vmlinux;
	const char *cgroups, *symbol; /* symbol: to annotate */
	struct graph_opts graph;      /* of call graphs in text */
	struct codestyle code;	      /* of annotated functions */
	bool no_graph, order_given, caller;
	bool children, hierarchy, group;
	int group_sort;
	bool stdio, chains, hide_kernel, hide_user, samples, periods, raw_trace, zero, no_inherit,
		idle;
	int delay_s, freq, iterations, entries, max_stack, least, realtime;
	double min_percent;
};

int top_run(struct top_args *a, struct err *e);

#endif
