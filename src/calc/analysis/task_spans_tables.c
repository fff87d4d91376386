/* SPDX-License-Identifier: MIT */
/*
 * profile: what each task spent its time on; hist: how often each event or function came, with the
 * stacks of either.
 */
#include <string.h>

#include "calc/analysis/analysis.h"
#include "calc/analysis/task_spans_int.h"

static void spans_put_stacks(struct table *t, const struct task_spans *spans,
			     const struct task_span *r)
{
	struct table_stack *s;
	char buf[32];

	if (!r->stacks.n) {
		table_unknown(t);
		return;
	}
	s = table_stacks(t, r->n, r->stacks.n, r->timed);
	vec_each (&r->stacks, x) {
		const char **frame = arena_alloc(&t->arena, (x->chain_n + 1) * sizeof(*frame));

		*s = (struct table_stack){ .count = x->n, .total = x->sum, .frame = frame };
		for (uint32_t i = 0; i < x->chain_n; i++)
			if (x->chain[i] < EVENT_CHAIN_MARK)
				frame[s->n++] = table_frame(
					t, task_spans_function(spans, x->chain[i], buf));
		s++;
	}
}

/* --- profile --- */

static int profile_begin(void *state, const struct analysis_env *env, struct err *e)
{
	struct task_spans *s = state;

	s->o = env->args;
	return task_spans_begin(s, env, e);
}

/* Of others only the moments are known at which they met these. */
static bool profile_wants(const struct task_profile_opts *o, const struct task_span *r)
{
	for (size_t i = 0; i < o->n_only; i++)
		if (r->tid == o->only[i])
			return true;
	return !o->n_only || r->tid == TASK_SPANS_NOBODY;
}

/* --- a row for each task --- */

struct turns {
	uint64_t on, turns, waits, waited, longest;
};

#define TURNS_COLUMNS                                                                 \
	{ "on_cpu_ns", "ON CPU ms", TABLE_DURATION, TABLE_MS, 3, .width = 11 },       \
		{ "turns", "TURNS", TABLE_COUNT, .width = 7 },                        \
		{ "wakeups", "WAKEUPS", TABLE_COUNT, .width = 7 },                    \
		{ "waited_us", "WAITED us", TABLE_REAL, .decimals = 1, .width = 10 }, \
	{                                                                             \
		"longest_ns", "LONGEST us", TABLE_DURATION, TABLE_US, 1, .width = 10  \
	}
static const struct table_column task_columns[] = {
	{ "comm", "TASK", TABLE_TEXT, .width = 16 },
	{ "tid", "TID", TABLE_NUMBER, .width = 7 },
	TURNS_COLUMNS,
};
static const struct table_column name_columns[] = {
	{ "comm", "TASK", TABLE_TEXT, .width = 25 },
	TURNS_COLUMNS,
};

static void profile_put_task(struct table *t, const struct task_span *first, const struct turns *l)
{
	table_row(t);
	table_text(t, first->comm);
	if (t->column == task_columns)
		table_i64(t, first->tid);
	table_u64(t, l->on);
	table_u64(t, l->turns);
	table_u64(t, l->waits);
	table_real(t, l->waits ? (double)l->waited / 1e3 / (double)l->waits : 0.0);
	table_u64(t, l->longest);
}

static void profile_put_tasks(struct table *t, const struct task_profile_opts *o,
			      const struct task_span *rows, size_t n)
{
	const struct task_span *first = NULL;
	struct turns l = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct task_span *r = &rows[i];

		if (r->tid <= 0 || !r->timed || !profile_wants(o, r))
			continue;
		if (first && first->tid != r->tid) {
			profile_put_task(t, first, &l);
			first = NULL;
		}
		if (!first)
			l = (struct turns){ 0 };
		first = first ? first : r;
		if (strcmp(r->what, "on CPU") == 0) {
			l.on = r->sum;
			l.turns = r->n;
		} else if (strncmp(r->what, "sched_wakeup", 12) == 0) {
			l.waits += r->n;
			l.waited += r->sum;
			l.longest = r->max > l.longest ? r->max : l.longest;
		}
	}
	if (first)
		profile_put_task(t, first, &l);
	table_sort(t, "on_cpu_ns", NULL);
}

/* --- what their time went into --- */

static const struct table_column span_columns[] = {
	[SPAN_COMM] = { "comm", "TASK", TABLE_TEXT },
	[SPAN_TID] = { "tid", "TID", TABLE_NUMBER },
	[SPAN_EVENT] = { "event", "EVENT", TABLE_TEXT },
	[SPAN_COUNT] = { "count", "COUNT", TABLE_COUNT },
	[SPAN_TOTAL] = { "total_ns", "TOTAL", TABLE_DURATION },
	[SPAN_AVG] = { "avg_ns", "AVERAGE", TABLE_DURATION },
	[SPAN_MAX] = { "max_ns", "MAX", TABLE_DURATION },
	[SPAN_MAX_AT] = { "max_at_ns", "MAX AT", TABLE_TIME },
	[SPAN_MIN] = { "min_ns", "MIN", TABLE_DURATION },
	[SPAN_MIN_AT] = { "min_at_ns", "MIN AT", TABLE_TIME },
	[SPAN_STACKS] = { "stacks", "STACKS", TABLE_STACKS },
};

static void profile_put_span(struct table *t, const struct task_spans *s, const struct task_span *r)
{
	const uint64_t times[] = { r->sum,   r->n ? r->sum / r->n : 0, r->max, r->max_at, r->min,
				   r->min_at };

	table_row(t);
	table_text(t, r->tid == TASK_SPANS_NOBODY ? NULL : r->comm);
	if (r->tid == TASK_SPANS_NOBODY || (s->o->by_comm && r->tid))
		table_unknown(t);
	else
		table_i64(t, r->tid);
	table_text(t, r->what);
	table_u64(t, r->n);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (r->timed)
			table_u64(t, times[i]);
		else
			table_unknown(t);
	spans_put_stacks(t, s, r);
}

static void profile_end(void *state, const struct analysis_env *env, struct tables *ret)
{
	const struct task_profile_opts *o = env->args;
	size_t n;
	const struct task_span *rows = task_spans_rows(state, &n);
	struct table *tasks =
		o->by_comm ? table_new(ret, "tasks", name_columns, ARRAY_SIZE(name_columns))
			   : table_new(ret, "tasks", task_columns, ARRAY_SIZE(task_columns));
	struct table *spans = table_new(ret, "spans", span_columns, ARRAY_SIZE(span_columns));

	profile_put_tasks(tasks, o, rows, n);
	spans->n_heading = SPAN_TID + 1;
	for (size_t i = 0; i < n; i++)
		if (profile_wants(o, &rows[i]))
			profile_put_span(spans, state, &rows[i]);
}

const struct analysis analysis_profile = {
	.name = "profile",
	.summary = "where tasks ran, waited and were interrupted",
	.record = "kymo record -e 'sched:*,irq:*' or kymo ftrace record -e sched -e irq",
	.show = "kymo ftrace profile --input FILE",
	.args_size = sizeof(struct task_profile_opts),
	.state_size = sizeof(struct task_spans),
	.begin = profile_begin,
	.add = task_spans_add,
	.end = profile_end,
	.drop = task_spans_drop,
};

/* --- hist --- */

static int hist_begin(void *state, const struct analysis_env *env, struct err *e)
{
	static const struct task_profile_opts usual = { 0 };
	struct task_spans *s = state;

	s->o = &usual;
	s->counts = true;
	s->all_tasks = ((const struct event_hist_opts *)env->args)->all_tasks;
	return task_spans_begin(s, env, e);
}

static const struct table_column hist_columns[] = {
	[HIST_COUNT] = { "count", "COUNT", TABLE_COUNT, .sum = true },
	[HIST_SHARE] = { "share", "SHARE", TABLE_SHARE },
	[HIST_EVENT] = { "event", "EVENT", TABLE_TEXT },
	[HIST_STACKS] = { "stacks", "STACKS", TABLE_STACKS },
	[HIST_TID] = { "tid", "TID", TABLE_NUMBER },
	[HIST_COMM] = { "comm", "TASK", TABLE_TEXT },
};

static void hist_end(void *state, const struct analysis_env *env, struct tables *ret)
{
	const struct event_hist_opts *o = env->args;
	size_t n;
	const struct task_span *rows = task_spans_rows(state, &n);
	struct table *t = table_new(ret, "events", hist_columns,
				    o->all_tasks ? HIST_TID : ARRAY_SIZE(hist_columns));
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += rows[i].n;
	for (size_t i = 0; i < n; i++) {
		table_row(t);
		table_u64(t, rows[i].n);
		table_real(t, (double)rows[i].n / (double)all);
		table_text(t, rows[i].what);
		spans_put_stacks(t, state, &rows[i]);
		table_i64(t, rows[i].tid);
		table_text(t, rows[i].comm);
	}
}

const struct analysis analysis_hist = {
	.name = "hist",
	.summary = "how often each event or function came, with stacks",
	.record = "kymo record -g -e EVENTS or kymo ftrace record -T -e EVENTS",
	.show = "kymo ftrace hist",
	.sort = "count,event",
	.args_size = sizeof(struct event_hist_opts),
	.state_size = sizeof(struct task_spans),
	.begin = hist_begin,
	.add = task_spans_add,
	.end = hist_end,
	.drop = task_spans_drop,
};
