/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/str.h"
#include "calc/analysis/task_spans_int.h"

/* --- rows --- */

static const char *task_spans_comm_of(const struct trace *t, int32_t tid)
{
	return tid ? tasks_name_or(t->tasks, tid, UINT64_MAX - 1, "<...>") : "<idle>";
}

static size_t row_of(struct task_spans *s, int32_t tid, uint32_t word)
{
	const char *comm = tid == TASK_SPANS_NOBODY ? "" : task_spans_comm_of(s->trace, tid);
	uint32_t task = (uint32_t)tid;
	uint64_t *at;

	if (s->o->by_comm && tid > 0) { /* all rows of a name are of its first thread */
		uint32_t name = strtab_add(&s->words, comm);
		uint64_t *first = map_at(&s->first_tid, name);

		*first = *first ? *first : (uint64_t)tid;
		tid = (int32_t)*first;
		task = name | 1u << 31;
	}
	at = map_at(&s->index, (uint64_t)task << 32 | word);
	if (!*at) {
		struct task_span *row = vec_add(&s->rows);

		*at = s->rows.n;
		row->tid = tid;
		row->comm = comm;
		row->what = strtab_get(&s->words, word);
		row->min = UINT64_MAX;
	}
	return *at - 1;
}

uint32_t task_spans_chain(struct task_spans *s, const struct event *ev)
{
	struct chain c = { .n = (uint32_t)ev->chain_n };
	uint64_t *at;

	if (!ev->chain_n)
		return 0;
	c.addr = mem_dup(ev->chain, ev->chain_n * sizeof(*ev->chain));
	for (uint32_t i = 0; i < c.n && s->env.name; i++)
		if (c.addr[i] < EVENT_CHAIN_MARK)
			s->env.name(s->env.ctx, c.addr[i], &c.addr[i]);
	at = map_at(&s->chain_index, map_hash_bytes(c.addr, c.n * sizeof(*c.addr)));
	if (!*at) {
		vec_push(&s->chains, c);
		*at = s->chains.n;
	} else {
		free(c.addr);
	}
	return (uint32_t)*at;
}

static void task_spans_add_stack(struct task_spans *s, size_t row, uint32_t chain, uint64_t took)
{
	uint64_t *at = map_at(&s->stack_index, (uint64_t)row << 32 | chain);
	struct task_span *r = &s->rows.data[row];
	struct task_span_stack *stack;

	if (!*at) {
		stack = vec_add(&r->stacks);
		stack->chain = s->chains.data[chain - 1].addr;
		stack->chain_n = s->chains.data[chain - 1].n;
		*at = r->stacks.n;
	}
	stack = &r->stacks.data[*at - 1];
	stack->n++;
	stack->sum += took;
}

void task_spans_add_time(struct task_spans *s, int32_t tid, uint32_t word, uint64_t took,
			 uint64_t at, uint32_t chain)
{
	size_t i = row_of(s, tid, word);
	struct task_span *r = &s->rows.data[i];

	r->timed = true;
	r->n++;
	r->sum += took;
	if (took >= r->max) {
		r->max = took;
		r->max_at = at;
	}
	if (took < r->min) {
		r->min = took;
		r->min_at = at;
	}
	if (chain)
		task_spans_add_stack(s, i, chain, took);
}

/* --- functions --- */

static void find_graph(struct task_spans *s)
{
	s->graph = task_spans_type(s->trace, "ftrace:funcgraph_exit");
	s->call = task_spans_type(s->trace, "ftrace:funcgraph_entry");
	s->function = task_spans_type(s->trace, "ftrace:function");
	s->call_func = s->call ? type_field(s->call, "func") : NULL;
	s->ip = s->function ? type_field(s->function, "ip") : NULL;
	if (!s->graph)
		return;
	s->func = type_field(s->graph, "func");
	s->call_at = type_field(s->graph, "calltime");
	s->return_at = type_field(s->graph, "rettime");
}

/* --- all of it --- */

int task_spans_begin(struct task_spans *s, const struct analysis_env *env, struct err *e)
{
	int r = 0;

	s->trace = env->trace;
	s->env = *env;
	s->in_pair = mem_alloc((s->trace->n_types + 1) * sizeof(*s->in_pair));
	if (!s->counts)
		task_spans_usual(s);
	s->n_usual = s->rules.n;
	find_graph(s);
	for (size_t i = 0; r >= 0 && i < s->o->n_hooks; i++)
		r = task_spans_hook(s, s->o->hooks[i], e);
	return r;
}

const char *task_spans_function(const struct task_spans *s, uint64_t addr, char buf[32])
{
	uint64_t start;
	const char *name = s->env.name ? s->env.name(s->env.ctx, addr, &start) : NULL;

	if (!name)
		snprintf(buf, 32, "0x%" PRIx64, addr);
	return name ? name : buf;
}

static uint32_t function_word(struct task_spans *s, uint64_t addr)
{
	char buf[32];

	return strtab_add(&s->words, task_spans_function(s, addr, buf));
}

static void add_graph(struct task_spans *s, const struct event *ev)
{
	int64_t func, from, to;

	if (!s->func || !s->call_at || !s->return_at ||
	    !field_int(s->func, ev->raw, ev->raw_size, &func) ||
	    !field_int(s->call_at, ev->raw, ev->raw_size, &from) ||
	    !field_int(s->return_at, ev->raw, ev->raw_size, &to))
		return;
	task_spans_add_time(s, ev->tid, function_word(s, (uint64_t)func),
			    to > from ? (uint64_t)(to - from) : 0, ev->time, 0);
}

/* The end of a function is no event of its own. */
static void add_count(struct task_spans *s, const struct event *ev, const struct event_type *t)
{
	const struct field *f = t == s->call ? s->call_func : t == s->function ? s->ip : NULL;
	uint32_t word, chain = s->counts ? task_spans_chain(s, ev) : 0;
	int64_t addr;
	size_t row;

	if (t == s->graph || (t == s->call && !s->counts))
		return;
	word = f && field_int(f, ev->raw, ev->raw_size, &addr)
		       ? function_word(s, (uint64_t)addr)
		       : strtab_add(&s->words, t->event ? t->event : t->name);
	row = row_of(s, s->all_tasks ? TASK_SPANS_NOBODY : ev->tid, word);
	s->rows.data[row].n++;
	if (chain)
		task_spans_add_stack(s, row, chain, 0);
}

void task_spans_add(void *state, int role, const struct event *ev, const int64_t *values)
{
	struct task_spans *s = state;
	const struct event_type *t = &s->trace->types[ev->type];

	vec_each (&s->rules, r)
		slices_add((*r)->slices, ev);
	if (t == s->graph && !s->counts)
		add_graph(s, ev);
	else if (!s->in_pair[ev->type])
		add_count(s, ev, t);
}

static int by_sum(const void *x, const void *y)
{
	const struct task_span_stack *a = x, *b = y;
	int d = SORT_BY(b->sum, a->sum);

	return d ? d : SORT_BY(b->n, a->n);
}

static int by_task(const void *x, const void *y)
{
	const struct task_span *a = x, *b = y;
	int d = SORT_BY(a->tid, b->tid);

	d = d ? d : SORT_BY(b->timed, a->timed);
	d = d ? d : SORT_BY(b->sum, a->sum);
	d = d ? d : SORT_BY(b->n, a->n);
	return d ? d : strcmp(a->what, b->what);
}

const struct task_span *task_spans_rows(struct task_spans *s, size_t *n)
{
	vec_each (&s->rules, r)
		if (!s->done)
			slices_finish((*r)->slices, s->trace->last_time);
	s->done = true;
	vec_each (&s->rows, r)
		if (r->stacks.n)
			qsort(r->stacks.data, r->stacks.n, sizeof(*r->stacks.data), by_sum);
	if (s->rows.n)
		qsort(s->rows.data, s->rows.n, sizeof(*s->rows.data), by_task);
	*n = s->rows.n;
	return s->rows.data;
}

void task_spans_drop(void *state)
{
	struct task_spans *s = state;

	vec_each (&s->rules, x)
		task_spans_rule_free(*x);
	vec_each (&s->rows, r)
		vec_free(&r->stacks);
	vec_each (&s->chains, c)
		free(c->addr);
	vec_free(&s->rules);
	vec_free(&s->rows);
	vec_free(&s->chains);
	map_free(&s->index);
	map_free(&s->first_tid);
	map_free(&s->chain_index);
	map_free(&s->stack_index);
	strtab_free(&s->words);
	free(s->in_pair);
}
