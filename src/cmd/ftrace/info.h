/* SPDX-License-Identifier: MIT */
/* What `kymo ftrace report` shows besides events, and what it works out of them. */
#ifndef KYMO_CMD_FTRACE_INFO_H
#define KYMO_CMD_FTRACE_INFO_H

#include "base/map.h"
#include "calc/read/ftrace_filter.h"
#include "cmd/ftrace/report.h"
#include "store/tracedat/tracedat.h"

/* Something else than events was asked for, and is printed now. */
bool ftrace_info_other(struct source *s, const struct ftrace_names *names,
		       const struct ftrace_report_args *a, struct out *out);
/* --stat, --uname, --version, behind the number of CPUs. */
void ftrace_info_only(const struct source *s, const struct ftrace_report_args *a, struct out *out);
/* -T: what a filter asks of each event it is for. */
void ftrace_info_filter(const struct source *s, const struct ftrace_filter *filter,
			struct out *out);
int ftrace_info_check(struct source *s, struct err *e);

/* Wake-up latencies: -w. */
struct wakeup_sum {
	uint64_t total, n, max, max_at, min, min_at;
};
struct wakeups {
	struct wakeup_type *types; /* by type */
	struct map start;	   /* pid to time, 0: none */
	struct wakeup_sum all, rt;
};
void wakeups_init(struct wakeups *w, const struct trace *t);
void wakeups_event(struct wakeups *w, const struct event *ev, struct out *out);
void wakeups_finish(struct wakeups *w, struct out *out);
void wakeups_free(struct wakeups *w);

#endif
