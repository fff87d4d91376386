/* SPDX-License-Identifier: MIT */
/* Between task_spans.c (rows) and task_spans_rules.c (what makes them). */
#ifndef KYMO_CALC_TIME_TASK_SPANS_INT_H
#define KYMO_CALC_TIME_TASK_SPANS_INT_H

#include "base/map.h"
#include "calc/slices/slices.h"
#include "calc/time/task_spans.h"

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
	struct task_spans_opts o;
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

/* task_spans.c */
/* 0 for none; equal chains have equal numbers. */
uint32_t task_spans_chain(struct task_spans *s, const struct event *ev);
void task_spans_add_time(struct task_spans *s, int32_t tid, uint32_t word, uint64_t took,
			 uint64_t at, uint32_t chain);
/* task_spans_rules.c */
const struct event_type *task_spans_type(const struct trace *t, const char *name);
/* What is known of the kernel's own events. */
void task_spans_usual(struct task_spans *s);
int task_spans_hook(struct task_spans *s, const char *text, struct err *e);
void task_spans_rule_free(struct rule *r);

#endif
