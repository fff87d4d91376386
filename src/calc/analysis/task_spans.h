/* SPDX-License-Identifier: MIT */
/* What the analyses "profile" and "hist" are told, and the order of their columns. */
#ifndef KYMO_CALC_ANALYSIS_TASK_SPANS_H
#define KYMO_CALC_ANALYSIS_TASK_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of profile; hooks are those of calc/time/task_spans.h. A zeroed one is the usual. */
struct task_profile_opts {
	const char *const *hooks;
	size_t n_hooks;
	const pid_t *only; /* threads; what belongs to none is kept, too */
	size_t n_only;	   /* 0: all */
	bool by_comm, global_irqs;
};

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

#endif
