/* SPDX-License-Identifier: MIT */
/*
 * What top's files share.
 *
 *	top.c		the options
 *	top_run.c	sampling, counting, and the text
 *	top_era.c	what is known of tasks and names, and what a screen is made of
 *	top_tui.c	the same on a terminal
 */
#pragma once

#include <regex.h>

#include "calc/profile/names.h"
#include "calc/read/gate.h"
#include "calc/read/idle.h"
#include "calc/read/pick.h"
#include "calc/rows/key.h"
#include "calc/stacks/graph.h"
#include "cmd/report/report.h"
#include "event/spec/spec.h"
#include "live/capture/monitor.h"

struct top_args {
	struct spec_list events;
	struct target_opts target;
	struct capture_opts capture;
	struct pick_opts pick; /* comms, dsos, symbols */
	struct gate_opts gate;
	struct columns_opts columns; /* what the user says of them */
	const char *percentage, *ignore_callees, *kallsyms, *vmlinux;
	const char *cgroups, *symbol; /* symbol: to annotate */
	struct report_graph graph;    /* in text */
	struct codestyle code;	      /* of annotated functions */
	bool children, hierarchy, group;
	int group_sort;
	bool stdio, chains, hide_kernel, hide_user, zero, no_inherit, idle;
	int delay_s, freq, iterations, entries, max_stack, least, realtime;
	double min_percent;
};

int top_run(struct top_args *a, struct err *e);

/*
 * Programs come and go, and what is known of them grows. When it has become much, an era ends:
 * tasks and symbols are made anew, with what is counted now. What is still looked at keeps the era
 * it was made in.
 */
struct top_era {
	struct trace trace; /* a copy: its tasks are those of this era */
	struct symbols *symbols;
	struct symbols_use begun; /* after the first table */
	bool has_begun, ended;
	unsigned users;
};

struct top {
	struct top_args *a;
	struct monitor m;
	struct target target;
	struct loop loop;
	struct profile_builder *counted;
	unsigned by; /* PROFILE_BY_*: what samples are counted apart by */
	struct top_era *era;
	struct columns columns;
	struct extra_plan plan;
	struct pick pick;
	struct gate gate;
	regex_t callees;
	bool has_callees, picking;
	uint64_t samples, kernel, since;
	char event[128], whom[64];
	bool tui, caller;
	uint32_t *leader; /* by type: the event in whose rows it is shown */
};

/* --- top_run.c --- */
bool top_shows_children(const struct top_args *a);
int top_columns(const struct top *t, const char *sort, struct columns *ret, struct err *e);
/* Takes what has come since the last call. */
int top_poll(struct top *t, struct err *e);

/* --- top_era.c --- */
bool top_leaves_idle_out(const struct top_args *a); /* samples of CPUs without work */
int top_era_first(struct top *t, struct err *e);
void top_era_put(struct top_era *e); /* NULL is fine */
/* Samples and names as they are now: the capture goes on counting while they are looked at. */
struct top_snapshot {
	struct top_era *era;
	struct profile profile;
	struct names names;
	bool *sites; /* that are wanted; NULL: all */
	struct idle idle;
	unsigned users;
};
int top_snapshot_take(struct top *t, struct top_snapshot **ret, struct err *e);
void top_snapshot_put(void *snapshot); /* NULL is fine */
/* It was taken: what is counted fades, and another era may begin. */
void top_era_turn(struct top *t);

/* --- top_tui.c --- */
int top_tui_run(struct top *t, struct err *e);
