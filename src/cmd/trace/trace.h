/* SPDX-License-Identifier: MIT */
/* What the files of kymo trace share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/out.h"
#include "base/vec.h"
#include "event/syscall/syscall.h"
#include "event/trace_abi.h"
#include "live/trace/points.h"
#include "live/trace/stacks.h"
#include "live/trace/tracer.h"
#include "view/trace/trace.h"

struct command;
extern const struct command cmd_trace_record; /* record.c: it has record's options */

#define TRACE_SIGNAL "signal:signal_deliver"

struct trace_args {
	const char *pids, *tids, *cpus, *user, *output, *input, *leave_out, *mode, *faults;
	const char *call_graph;
	bool all, sums, with_sums, failed, full_time, json, no_children, no_paths, names, verbose;
	enum trace_by by; /* --summary-mode */
	bool syscalls, no_syscalls, signals, no_comm, ignored;
	uint64_t min_ns, max_events, ring_bytes, delay_ns;
	int limit, max_stack;
	struct vec_strs events; /* each -e */
};

/* What -e asks for. */
struct trace_pick {
	bool wanted[TRACE_ABIS][SYSCALL_MAX];
	bool any_call;		  /* calls were named */
	VEC(const char *) others; /* patterns with a colon: other events */
};
int trace_pick(const struct trace_args *a, struct trace_pick *ret, struct err *e);
void trace_pick_free(struct trace_pick *p);

/* Where output goes, and how. */
struct trace_show {
	const struct trace_args *a;
	struct trace_words words;
	struct trace_lines lines;
	struct out out;
	struct syscalls sums;
	struct trace_points points;
	uint64_t shown;
	bool full; /* as many as were asked for */
	struct trace_stacks stacks;
	VEC(struct trace_record *) queue; /* wait for their stacks and names; data behind each */
};
/* What is seen live goes to standard error, as strace and perf trace do, a recording as other
 * views. */
int trace_show_open(struct trace_show *s, const struct trace_args *a, bool live, struct err *e);
/* A tracer_fn: non-zero when it is enough. */
int trace_show_record(void *ctx, const struct trace_record *r, const void *data);
/* Show those whose stacks are there or will not come any more; all: do not wait. */
void trace_show_queued(struct trace_show *s, bool all);
void trace_show_sums(struct trace_show *s);
int trace_show_close(struct trace_show *s, struct err *e);
/* Whose row r goes to. */
struct trace_sum_key trace_show_key(const struct trace_show *s, const struct trace_record *r);

/* The calls of a recording (-i). */
int trace_input(const struct trace_args *a, const struct trace_pick *pick, struct err *e);

/* argv: of a command; NULL: none. The exit code, or -errno. */
int trace_run(const struct trace_args *a, const struct trace_pick *pick, char **argv,
	      struct err *e);
