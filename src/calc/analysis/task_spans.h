/* SPDX-License-Identifier: MIT */
/*
 * What each task spent its time on ("profile"), by slices (calc/slices/slices.h): on a CPU, off it
 * by state, from wake-up to run, in system calls and interrupts, in functions that function_graph
 * timed, and between any two events that the user hooks together; and how often each event or
 * function came ("hist").
 *
 * A hook in trace-cmd's words: [SYSTEM:]START,FIELD[,PID]/[SYSTEM:]END,FIELD[,FLAGS]: END ends what
 * START began when their fields agree. PID is the field of START that names the thread it is
 * about; without it, it is the thread that both happened in. Flags: p, both are on one CPU; g, of
 * no thread; s, with its stack (which is always shown when there is one).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Of profile. A zeroed one is the usual. */
struct task_profile_opts {
	const char *const *hooks;
	size_t n_hooks;
	const pid_t *only; /* threads; what belongs to none is kept, too */
	size_t n_only;	   /* 0: all */
	bool by_comm;	   /* threads of one name are one */
	bool global_irqs;  /* interrupts belong to nobody, not to whom they met */
};

/* What a hook needs recorded, "a,b" as -e takes them; to be freed. */
int task_spans_hook_events(const char *hook, char **ret, struct err *e);

/* Of hist. */
struct event_hist_opts {
	bool all_tasks; /* tasks are not told apart */
};

/* profile's tables: a row a task, and a row for each thing its time went into. */
enum { PROFILE_TASKS, PROFILE_SPANS };
enum {
	SPAN_COMM, /* not known: of no task */
	SPAN_TID,  /* not known: of no task, or of several that have one name */
	SPAN_EVENT,
	SPAN_COUNT,
	SPAN_TOTAL, /* not known, with all to SPAN_MIN_AT: it has no duration */
	SPAN_AVG,
	SPAN_MAX,
	SPAN_MAX_AT,
	SPAN_MIN,
	SPAN_MIN_AT,
	SPAN_STACKS,
};

/* hist's only table; the last two are missing where tasks are not told apart. */
enum { HIST_COUNT, HIST_SHARE, HIST_EVENT, HIST_STACKS, HIST_TID, HIST_COMM };
