/* SPDX-License-Identifier: MIT */
/* What the options of `kymo ftrace report` say, and the reading that does it. */
#pragma once

#include "base/err.h"
#include "base/out.h"
#include "base/vec.h"
#include "cmd/ftrace/profile.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/text.h"
#include "base/map.h"
#include "calc/read/ftrace_filter.h"

struct ftrace_report_filter {
	const char *text;
	bool negate;
};

struct ftrace_report_input {
	const char *path;
	int64_t time_offset;
	uint64_t hz; /* of the clock; 0: as recorded */
};

struct ftrace_report_args {
	VEC(struct ftrace_report_input) inputs;
	VEC(struct ftrace_report_filter) filters;
	struct vec_strs raw_events, plain_events, plugin_opts;
	bool negate;
	uint64_t hz;
	char *cpus, *pids, *comms; /* owned: lists by comma, of all that were given */
	const char *kallsyms, *print_event;
	bool latency, nsec, raw, wakeup, diff, check, no_date, raw_time, align, boundaries;
	bool no_irqs, no_softirqs, no_plugins, quiet;
	bool stat, uname, version, events, formats, endian, page_size, functions, printk, list_cpus;
	bool first, last, check_events, test_filters;
	bool profile;
	struct ftrace_profile_opts p;
};

int ftrace_report_run(struct ftrace_report_args *a, struct out *out, struct err *e);

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
