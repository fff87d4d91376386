/* SPDX-License-Identifier: MIT */
/*
 * What each task spent its time on, by pairs of events (calc/slices/slices.h): on a CPU, off it by
 * state, from wake-up to run, in system calls and interrupts, in functions that function_graph
 * timed, and between any two events that the user hooks together. Events that begin or end nothing
 * are counted.
 *
 * A hook in trace-cmd's words: [SYSTEM:]START,FIELD[,PID]/[SYSTEM:]END,FIELD[,FLAGS]: END ends what
 * START began when their fields agree. PID is the field of START that names the thread it is
 * about; without it, it is the thread that both happened in. Flags: p, both are on one CPU; g, of
 * no thread; s, with its stack (which is always shown when there is one).
 */
#ifndef KYMO_CALC_TIME_TASK_SPANS_H
#define KYMO_CALC_TIME_TASK_SPANS_H

#include "base/vec.h"
#include "event/trace.h"

struct task_spans_opts {
	const char *const *hooks;
	size_t n_hooks;
	bool counts;	  /* no times: every event is counted, with its stack; functions by name */
	bool all_tasks;	  /* and tasks are not told apart */
	bool by_comm;	  /* threads of one name are one */
	bool global_irqs; /* interrupts belong to nobody, not to whom they met */
	/* A kernel function's name and where it begins; NULL: unknown. */
	const char *(*name)(void *ctx, uint64_t addr, uint64_t *start);
	void *ctx;
};

struct task_span_stack {
	const uint64_t *chain; /* as in events, but functions, not the places in them */
	uint32_t chain_n;
	uint64_t n, sum;
};

struct task_span {
	int32_t tid; /* TASK_SPANS_NOBODY: of no thread */
	const char *comm, *what;
	bool timed; /* all below but n count */
	uint64_t n, sum, max, max_at, min, min_at;
	VEC(struct task_span_stack) stacks; /* most time first */
};
#define TASK_SPANS_NOBODY (-1)

struct task_spans;
/* t must outlive it. A hook whose events or fields are not there is an error. */
int task_spans_new(const struct trace *t, const struct task_spans_opts *o, struct task_spans **ret,
		   struct err *e);
/* An event_fn, in order of time. */
int task_spans_add(void *spans, const struct event *ev);
/* By task, the longest first. They live as long as s. */
const struct task_span *task_spans_rows(struct task_spans *s, size_t *n);
void task_spans_free(struct task_spans *s);

/* What a hook needs recorded, "a,b" as -e takes them; to be freed. */
int task_spans_hook_events(const char *hook, char **ret, struct err *e);

#endif
