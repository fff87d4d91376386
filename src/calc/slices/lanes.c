/* SPDX-License-Identifier: MIT */
#include "calc/slices/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "calc/slices/slices.h"
#include "calc/slices/switches.h"
#include "event/match.h"

#define MOST_CPUS 65536u
#define MOST_ROWS 64u

/* What is made by rules. */
static const struct {
	enum lane_kind kind;
	const char *text;
	enum slice_again again;
} rules[] = {
	{ LANE_CALL, SLICE_CALLS, SLICE_REPLACES },
	{ LANE_IRQ,
	  "irq:irq_handler_entry|irq:softirq_entry,irq:irq_handler_exit|irq:softirq_exit by cpu",
	  SLICE_NESTS },
	{ LANE_BLOCK, "block:block_rq_issue,block:block_rq_complete by dev,sector",
	  SLICE_REPLACES },
};

struct lane_maker {
	struct lanes *lanes;
	enum lane_kind kind;
	struct slice_rule rule;
	struct slices *slices;
};

struct lane_thread {
	uint64_t since;
	int32_t tid;
	uint32_t what;
	uint16_t cpu;
	uint8_t state, flags;
};

/* Who runs; not known: since when it may have been anybody. */
struct lane_cpu {
	uint64_t since, last; /* last: its last event */
	int32_t tid;
	bool known;
};

struct lanes_making {
	struct switches switches;
	struct lane_maker maker[ARRAY_SIZE(rules)];
	const struct field **woken; /* by type: of wake-ups, who */
	struct map lane_at, thread_at;
	VEC(struct lane_thread) threads;
	VEC(struct lane_cpu) cpus;
	uint64_t last;
};

/* --- lanes and rows --- */

static uint64_t lane_key(enum lane_kind kind, uint32_t id)
{
	return (uint64_t)kind << 32 | id;
}

static size_t lane_of(struct lanes *l, enum lane_kind kind, uint32_t id)
{
	uint64_t *at = map_at(&l->making->lane_at, lane_key(kind, id));

	if (!*at) {
		struct lane *lane = vec_add(&l->lanes);

		lane->kind = kind;
		lane->id = id;
		*at = l->lanes.n;
	}
	return *at - 1;
}

const struct lane *lanes_find(const struct lanes *l, enum lane_kind kind, uint32_t id)
{
	vec_each (&l->lanes, lane)
		if (lane->kind == kind && lane->id == id)
			return lane;
	return NULL;
}

static struct lane_row *lane_row(struct lanes *l, size_t lane, unsigned row)
{
	while (l->lanes.data[lane].rows.n <= row)
		vec_add(&l->lanes.data[lane].rows);
	return &l->lanes.data[lane].rows.data[row];
}

/* Slices of a row do not overlap, whatever events say. */
static void lane_put(struct lanes *l, size_t lane, unsigned row, struct lane_slice s)
{
	struct lane_row *r = lane_row(l, lane, row);
	uint64_t end = r->slices.n ? r->slices.data[r->slices.n - 1].to : 0;

	if (s.from < end)
		s.from = end;
	if (s.to >= s.from)
		vec_push(&r->slices, s);
}

/* --- what rules make --- */

static uint32_t lane_id(const struct lane_maker *m, const struct event *ev)
{
	const struct field *dev = type_field(&m->lanes->trace->types[ev->type], "dev");
	int64_t v = 0;

	if (m->kind == LANE_BLOCK && dev)
		field_int(dev, ev->raw, ev->raw_size, &v);
	return m->kind == LANE_CALL  ? (uint32_t)ev->tid
	       : m->kind == LANE_IRQ ? ev->cpu
				     : (uint32_t)v;
}

/* Of a call its name, of an interrupt its handler, of a request what it does. */
static uint32_t lane_name(const struct lane_maker *m, const struct event *ev)
{
	static const char *const soft[] = { "HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };
	const struct event_type *t = &m->lanes->trace->types[ev->type];
	const struct field *f = type_field(t, m->kind == LANE_BLOCK ? "rwbs" : "name");
	const struct field *vec = type_field(t, "vec");
	const char *text = "";
	size_t n = 0;
	char buf[64];
	int64_t v;

	if (m->kind == LANE_CALL)
		return strtab_add(&m->lanes->names, slices_call_name(t, ev, buf, sizeof(buf)));
	if (vec && field_int(vec, ev->raw, ev->raw_size, &v) && (uint64_t)v < ARRAY_SIZE(soft))
		return strtab_add(&m->lanes->names, soft[v]);
	if (!f || !field_str(f, ev->raw, ev->raw_size, &text, &n))
		n = 0;
	return strtab_addn(&m->lanes->names, text, n);
}

/* Its name, lane and row: the first one that nothing is open in. */
static uint64_t lane_begin(void *ctx, const struct event *ev, uint32_t slot)
{
	struct lane_maker *m = ctx;
	size_t at = lane_of(m->lanes, m->kind, lane_id(m, ev));
	struct lane *lane = &m->lanes->lanes.data[at];
	unsigned row = ~lane->taken ? (unsigned)__builtin_ctzll(~lane->taken) : MOST_ROWS - 1;

	lane->taken |= 1ull << row;
	return (uint64_t)lane_name(m, ev) << 32 | at * MOST_ROWS | row;
}

static bool is_same_call(void *ctx, const struct slice *s, const struct event *ev)
{
	struct lane_maker *m = ctx;

	return lane_name(m, ev) == s->note >> 32;
}

/* An end without a beginning reaches back to what was before it in its row. */
static void lane_lone_end(struct lane_maker *m, const struct event *ev)
{
	struct lanes *l = m->lanes;
	size_t at = lane_of(l, m->kind, lane_id(m, ev));
	uint64_t taken = l->lanes.data[at].taken;
	unsigned row = ~taken ? (unsigned)__builtin_ctzll(~taken) : MOST_ROWS - 1;
	const struct lane_row *r = lane_row(l, at, row);
	uint64_t from = r->slices.n ? r->slices.data[r->slices.n - 1].to : l->trace->first_time;

	lane_put(l, at, row,
		 (struct lane_slice){ .from = from,
				      .to = ev->time,
				      .what = lane_name(m, ev),
				      .cpu = (uint16_t)ev->cpu,
				      .flags = LANE_NO_BEGIN });
}

static int lane_slice(void *ctx, const struct slice *s)
{
	struct lane_maker *m = ctx;
	size_t at = (uint32_t)s->note / MOST_ROWS;
	unsigned row = s->note % MOST_ROWS;

	if (s->kind == SLICE_LONE_END) {
		if (m->kind != LANE_BLOCK) /* of many that may be open, it may be any */
			lane_lone_end(m, s->end);
		return 0;
	}
	m->lanes->lanes.data[at].taken &= ~(1ull << row);
	lane_put(m->lanes, at, row,
		 (struct lane_slice){ .from = s->from,
				      .to = s->to,
				      .what = (uint32_t)(s->note >> 32),
				      .cpu = (uint16_t)s->cpu,
				      .flags = s->kind == SLICE_WHOLE ? 0 : LANE_NO_END });
	return 0;
}

/* --- states --- */

static uint8_t state_of(int64_t kernel)
{
	/* by the lowest bit, as ps has them: S D T t X Z P I */
	static const uint8_t states[] = { LANE_SLEEPING, LANE_DISK, LANE_STOPPED,  LANE_STOPPED,
					  LANE_DEAD,	 LANE_DEAD, LANE_SLEEPING, LANE_SLEEPING };

	return kernel & 0xff ? states[__builtin_ctzll((uint64_t)kernel)] : LANE_RUNNABLE;
}

static struct lane_thread *lane_thread(struct lanes *l, int32_t tid)
{
	uint64_t *at = map_at(&l->making->thread_at, (uint32_t)tid);

	if (!*at) {
		vec_push(&l->making->threads, (struct lane_thread){ .tid = tid });
		*at = l->making->threads.n;
	}
	return &l->making->threads.data[*at - 1];
}

/* The thread's state until now goes to its lane; from now on it is the other one. */
static void lane_state(struct lanes *l, struct lane_thread *t, uint64_t time, uint8_t flags,
		       struct lane_thread next)
{
	if (t->state != LANE_UNKNOWN)
		lane_put(l, lane_of(l, LANE_STATE, (uint32_t)t->tid), 0,
			 (struct lane_slice){ .from = t->since,
					      .to = time,
					      .what = t->what,
					      .cpu = t->cpu,
					      .state = t->state,
					      .flags = t->flags | flags });
	next.since = time;
	next.tid = t->tid;
	*t = next;
}

static struct lane_cpu *lane_cpu(struct lanes *l, uint32_t cpu)
{
	while (l->making->cpus.n <= cpu)
		vec_push(&l->making->cpus, (struct lane_cpu){ .since = l->trace->first_time });
	return &l->making->cpus.data[cpu];
}

/* Who ran on the CPU until now goes to its lane. */
static void lane_ran(struct lanes *l, uint32_t cpu, int32_t tid, uint64_t time, uint8_t flags)
{
	const struct lane_cpu *c = lane_cpu(l, cpu);

	if (tid > 0)
		lane_put(l, lane_of(l, LANE_CPU, cpu), 0,
			 (struct lane_slice){ .from = c->since,
					      .to = time,
					      .what = (uint32_t)tid,
					      .cpu = (uint16_t)cpu,
					      .flags = flags });
}

static void lanes_switch(struct lanes *l, const struct event *ev, const struct switch_seen *s)
{
	struct lane_cpu *c = lane_cpu(l, ev->cpu);
	uint8_t state = state_of(s->state);
	struct lane_thread *t;

	if (c->known)
		lane_ran(l, ev->cpu, c->tid, ev->time, c->tid == s->prev ? 0 : LANE_NO_END);
	else
		lane_ran(l, ev->cpu, s->prev, ev->time, LANE_NO_BEGIN);
	if (s->prev > 0) {
		t = lane_thread(l, s->prev);
		if (t->state == LANE_UNKNOWN) {
			*t = (struct lane_thread){ .since = c->since,
						   .tid = s->prev,
						   .cpu = (uint16_t)ev->cpu,
						   .state = LANE_RUNNING,
						   .flags = LANE_NO_BEGIN };
		}
		lane_state(l, t, ev->time, t->state == LANE_RUNNING ? 0 : LANE_NO_END,
			   (struct lane_thread){ .cpu = (uint16_t)ev->cpu,
						 .state = state,
						 .flags = state == LANE_RUNNABLE ? LANE_PREEMPTED
										 : 0 });
	}
	if (s->next > 0)
		lane_state(l, lane_thread(l, s->next), ev->time, 0,
			   (struct lane_thread){ .cpu = (uint16_t)ev->cpu, .state = LANE_RUNNING });
	*c = (struct lane_cpu){ ev->time, ev->time, s->next, true };
}

/* The first of the events that tell of a wake-up counts. */
static void lanes_wake(struct lanes *l, const struct event *ev, int32_t woken)
{
	const uint64_t *irq = map_find(&l->making->lane_at, lane_key(LANE_IRQ, ev->cpu));
	struct lane_arrow a = { .time = ev->time,
				.waker = ev->tid,
				.woken = woken,
				.cpu = ev->cpu,
				.in_irq = irq && l->lanes.data[*irq - 1].taken };
	struct lane_thread *t = woken > 0 ? lane_thread(l, woken) : NULL;

	if (!t || t->state == LANE_RUNNING || t->state == LANE_RUNNABLE)
		return;
	lane_state(l, t, ev->time, 0,
		   (struct lane_thread){ .what = (uint32_t)ev->tid,
					 .cpu = (uint16_t)ev->cpu,
					 .state = LANE_RUNNABLE });
	vec_push(&l->arrows, a);
}

/* What ran on the CPU did so until its last event; who runs now is not known. */
static void lanes_lost(struct lanes *l, const struct event *ev)
{
	struct lane_cpu *c = lane_cpu(l, ev->cpu);
	uint64_t time = ev->time > c->last ? ev->time : c->last;

	if (c->known)
		lane_ran(l, ev->cpu, c->tid, c->last, LANE_NO_END);
	if (c->known && c->tid > 0)
		lane_state(l, lane_thread(l, c->tid), c->last, LANE_NO_END,
			   (struct lane_thread){ .state = LANE_UNKNOWN });
	*c = (struct lane_cpu){ .since = time, .last = time };
}

/* --- all of it --- */

struct lanes *lanes_new(const struct trace *t)
{
	static const char *const wakes[] = { "sched_waking", "sched_wakeup", "sched_wakeup_new" };
	struct lanes *l = mem_alloc(sizeof(*l));
	struct lanes_making *m = l->making = mem_alloc(sizeof(*m));

	l->trace = t;
	switches_init(&m->switches, t);
	m->woken = mem_alloc((t->n_types + 1) * sizeof(struct field *));
	for (size_t i = 0; i < t->n_types; i++)
		for (size_t k = 0; k < ARRAY_SIZE(wakes); k++)
			if (match_tracepoint(&t->types[i], "sched", wakes[k]))
				m->woken[i] = type_field(&t->types[i], "pid");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct lane_maker *x = &m->maker[i];
		struct slices_opts o = { .begin = lane_begin,
					 .fits = rules[i].kind == LANE_CALL ? is_same_call : NULL,
					 .fn = lane_slice,
					 .may_lack = true,
					 .ctx = x };

		*x = (struct lane_maker){ .lanes = l, .kind = rules[i].kind };
		slice_rule_parse(rules[i].text, &x->rule, NULL);
		x->rule.again = rules[i].again;
		slices_new(t, &x->rule, &o, &x->slices, NULL);
	}
	return l;
}

int lanes_add(void *lanes, const struct event *ev)
{
	struct lanes *l = lanes;
	struct lanes_making *m = l->making;
	struct switch_seen s;
	int64_t woken;

	if (!(ev->have & EVENT_HAVE_TIME) || !(ev->have & EVENT_HAVE_CPU) || ev->cpu >= MOST_CPUS)
		return 0;
	m->last = ev->time > m->last ? ev->time : m->last;
	if (ev->kind == EVENT_LOST)
		lanes_lost(l, ev);
	lane_cpu(l, ev->cpu)->last = ev->time;
	if (switches_look(&m->switches, ev, &s))
		lanes_switch(l, ev, &s);
	if (ev->kind != EVENT_SAMPLE || ev->type >= l->trace->n_types)
		return 0;
	if (m->woken[ev->type] && field_int(m->woken[ev->type], ev->raw, ev->raw_size, &woken))
		lanes_wake(l, ev, (int32_t)woken);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (m->maker[i].slices)
			slices_add(m->maker[i].slices, ev);
	return 0;
}

static void lanes_forget(struct lanes_making *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		slices_free(m->maker[i].slices);
		slice_rule_free(&m->maker[i].rule);
	}
	switches_free(&m->switches);
	map_free(&m->lane_at);
	map_free(&m->thread_at);
	vec_free(&m->threads);
	vec_free(&m->cpus);
	free(m->woken);
	free(m);
}

void lanes_finish(struct lanes *l)
{
	struct lanes_making *m = l->making;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (m->maker[i].slices)
			slices_finish(m->maker[i].slices, m->last);
	for (uint32_t i = 0; i < m->cpus.n; i++)
		if (m->cpus.data[i].known)
			lane_ran(l, i, m->cpus.data[i].tid, m->last, LANE_NO_END);
	vec_each (&m->threads, t)
		if (t->state != LANE_DEAD)
			lane_state(l, t, m->last, LANE_NO_END, (struct lane_thread){ 0 });
	lanes_forget(m);
	l->making = NULL;
	vec_each (&l->lanes, lane)
		vec_each (&lane->rows, r)
			lane_row_sum(r);
}

void lanes_free(struct lanes *l)
{
	if (!l)
		return;
	if (l->making)
		lanes_forget(l->making);
	vec_each (&l->lanes, lane) {
		vec_each (&lane->rows, r)
			lane_row_free(r);
		vec_free(&lane->rows);
	}
	vec_free(&l->lanes);
	vec_free(&l->arrows);
	strtab_free(&l->names);
	free(l);
}
