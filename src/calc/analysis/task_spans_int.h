/* SPDX-License-Identifier: MIT */
/* Between task_spans.c (rows), task_spans_rules.c (what makes them) and task_spans_tables.c. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "calc/analysis/analysis.h"
#include "calc/analysis/task_spans.h"
#include "calc/slices/slices.h"

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

/* Whose time it is. */
enum who { WHO_BEGIN, WHO_END, WHO_NOBODY };

enum label { LABEL_EVENT, LABEL_STATE, LABEL_TEXT, LABEL_ID };

struct rule {
	struct task_spans *all;
	struct slice_rule rule;
	struct slices *slices;
	enum who who;
	enum label label;
	bool turns;    /* on a CPU, which go from the recording's beginning to its end */
	bool idle_out; /* each CPU has an idle task, all of the same number: they make no slices */
	const char *what;	   /* instead of the event's name */
	const struct field *field; /* of the beginning, for the label */
	const struct field *whose; /* of the end, where it names the thread */
	struct map labels;	   /* value of the field to label + 1 */
};

struct chain {
	uint64_t *addr;
	uint32_t n;
};

struct task_spans {
	const struct trace *trace;
	struct analysis_env env;
	const struct task_profile_opts *o;
	bool counts;	/* no times: every event is counted, with its stack; functions by name */
	bool all_tasks; /* and tasks are not told apart */
	VEC(struct rule *) rules;
	size_t n_usual; /* of them, before those that were asked for */
	bool *in_pair;	/* by type */
	const struct event_type *graph, *call, *function;
	const struct field *func, *call_at, *return_at, *call_func, *ip;
	struct strtab words;
	struct map index;     /* task and word to row + 1 */
	struct map first_tid; /* by_comm: word of a name to its first thread */
	VEC(struct task_span) rows;
	struct map chain_index; /* hash to chain + 1 */
	VEC(struct chain) chains;
	bool done;
	struct map stack_index; /* row and chain to index in its stacks, + 1 */
};

/* --- task_spans.c: a state of analyses --- */
int task_spans_begin(struct task_spans *s, const struct analysis_env *env, struct err *e);
void task_spans_add(void *state, int role, const struct event *ev, const int64_t *values);
void task_spans_drop(void *state);
/* By task, the longest first. */
const struct task_span *task_spans_rows(struct task_spans *s, size_t *n);
/* A kernel function's name, or its address in hex in buf. */
const char *task_spans_function(const struct task_spans *s, uint64_t addr, char buf[32]);
/* 0 for none; equal chains have equal numbers. */
uint32_t task_spans_chain(struct task_spans *s, const struct event *ev);
void task_spans_add_time(struct task_spans *s, int32_t tid, uint32_t word, uint64_t took,
			 uint64_t at, uint32_t chain);

/* --- task_spans_rules.c --- */
const struct event_type *task_spans_type(const struct trace *t, const char *name);
/* What is known of the kernel's own events. */
void task_spans_usual(struct task_spans *s);
int task_spans_hook(struct task_spans *s, const char *text, struct err *e);
void task_spans_rule_free(struct rule *r);
