/* SPDX-License-Identifier: MIT */
/* What the options of `kymo ftrace report` say, and the reading that does it. */
#ifndef KYMO_CMD_FTRACE_REPORT_H
#define KYMO_CMD_FTRACE_REPORT_H

#include "base/err.h"
#include "base/out.h"
#include "base/vec.h"
#include "cmd/ftrace/profile.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/text.h"

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

#endif
