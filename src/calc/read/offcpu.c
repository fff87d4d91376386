/* SPDX-License-Identifier: MIT */
#include "calc/read/offcpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/match.h"
#include "event/waker.h"

#define STATE_WAITS 3 /* interruptible or not; everything else can run or is stopped */
#define CHAIN_MAX 65536u

/* A chain of our own. */
struct words {
	VEC(uint64_t) v;
};

/* A thread that waits, as it left the CPU. */
struct waiter {
	int32_t tid;
	bool waits, woken;
	struct event left; /* chain is not used: */
	struct words chain, waker;
};

struct offcpu {
	struct source source, *inner;
	struct trace trace;
	struct event_type type, *types; /* offcpu-time; all, it is the last of them */
	uint32_t waits;			/* its index */
	uint32_t recorded;		/* the inner one's offcpu-time, or MATCH_NONE: */
	uint32_t sched_switch, waking, wakeup;
	const struct field *prev_state, *next_pid, *waking_pid, *wakeup_pid;
	const struct field *waking_flags, *wakeup_flags;
	bool wakers, beside;
	pthread_mutex_t lock; /* of the trace's wakers */
	struct trace_waker waker[EVENT_CHAIN_WAKERS];
};

struct reader {
	struct offcpu *o;
	event_fn *fn;
	void *ctx;
	struct words words;
	VEC(struct waiter) waiters;
	struct map by_tid; /* waiters + 1 */
	uint64_t last_time;
	bool all; /* side-band is wanted, too */
};

/* --- chains ----------------------------------------------------------------------------------- */

/* The number of a waker in the trace; the last one is everybody for whom there is no room. */
static uint32_t waker_number(struct offcpu *o, uint32_t space, const char *comm)
{
	uint32_t n;

	pthread_mutex_lock(&o->lock);
	for (n = 0; n < o->trace.n_wakers; n++)
		if (o->waker[n].space == space && strcmp(o->waker[n].comm, comm) == 0)
			break;
	if (n == o->trace.n_wakers && n < EVENT_CHAIN_WAKERS) {
		bool last = n == EVENT_CHAIN_WAKERS - 1;

		o->waker[n].space = last ? TASK_SPACE_NONE : space;
		snprintf(o->waker[n].comm, sizeof(o->waker[n].comm), "%s", last ? "others" : comm);
		o->trace.n_wakers++;
	} else if (n == o->trace.n_wakers) {
		n--;
	}
	pthread_mutex_unlock(&o->lock);
	return n;
}

/* A waker's part of a chain: outermost first, for the other half leads up to it. */
static void put_waker(struct words *w, uint32_t number, const uint64_t *kernel, uint32_t n_kernel,
		      const uint64_t *user, uint32_t n_user)
{
	vec_push(&w->v, EVENT_CHAIN_WAKER(number));
	while (n_user > 0)
		vec_push(&w->v, user[--n_user]);
	if (n_kernel)
		vec_push(&w->v, EVENT_CHAIN_KERNEL);
	while (n_kernel > 0)
		vec_push(&w->v, kernel[--n_kernel]);
	vec_push(&w->v, EVENT_CHAIN_WOKEN(number));
}

static void offcpu_put_chain(struct words *w, const struct event *ev)
{
	for (uint32_t i = 0; (ev->have & EVENT_HAVE_CHAIN) && i < ev->chain_n && i < CHAIN_MAX; i++)
		vec_push(&w->v, ev->chain[i]);
}

/* The first user address of an event's chain; 0: it has none. */
static uint64_t user_leaf(const struct event *ev)
{
	bool user = false;

	for (uint32_t i = 0; (ev->have & EVENT_HAVE_CHAIN) && i < ev->chain_n; i++) {
		if (user && ev->chain[i] < EVENT_CHAIN_MARK)
			return ev->chain[i];
		user = ev->chain[i] == EVENT_CHAIN_USER;
	}
	return 0;
}

/* The parts of an event's own chain. comm NULL: an interrupt, which has no user part. */
static void waker_from_event(struct offcpu *o, const struct event *ev, const char *comm,
			     struct words *ret)
{
	static const uint64_t none;
	uint32_t space = tasks_space_at(o->inner->trace->tasks, ev->pid, ev->time);
	uint32_t n = ev->have & EVENT_HAVE_CHAIN ? ev->chain_n : 0, i = 0, kernel = 0;
	const uint64_t *chain = n ? ev->chain : &none;
	uint32_t n_kernel, user;

	if (n > CHAIN_MAX)
		n = CHAIN_MAX;
	while (i < n && chain[i] != EVENT_CHAIN_USER)
		i++;
	kernel = i && chain[0] >= EVENT_CHAIN_MARK;
	n_kernel = i - kernel;
	user = i < n ? i + 1 : n;
	if (!comm)
		put_waker(ret, waker_number(o, TASK_SPACE_NONE, "interrupt"), chain + kernel,
			  n_kernel, NULL, 0);
	else
		put_waker(ret, waker_number(o, space, comm), chain + kernel, n_kernel, chain + user,
			  n - user);
}

/* --- recorded as such ------------------------------------------------------------------------- */

static int hand_recorded(struct reader *r, const struct event *ev)
{
	struct offcpu *o = r->o;
	struct event out = *ev;
	struct waker w;

	if (ev->type != o->recorded)
		return 0;
	out.type = o->waits;
	if (o->wakers && waker_of(ev, &w)) {
		const struct waker_head *h = w.head;
		uint32_t space = h->flags & WAKER_INTERRUPT
					 ? TASK_SPACE_NONE
					 : tasks_space_at(o->inner->trace->tasks, h->pid, ev->time);

		r->words.v.n = 0;
		put_waker(&r->words, waker_number(o, space, h->comm), w.kernel, h->n_kernel, w.user,
			  h->n_user);
		offcpu_put_chain(&r->words, ev);
		out.chain = r->words.v.data;
		out.chain_n = (uint32_t)r->words.v.n;
		out.have |= EVENT_HAVE_CHAIN;
	}
	return r->fn(r->ctx, &out);
}

/* --- from the scheduler's events -------------------------------------------------------------- */

static struct waiter *waiter_of(struct reader *r, int32_t tid)
{
	uint64_t *at = map_at(&r->by_tid, (uint32_t)tid);

	if (!*at) {
		vec_add(&r->waiters)->tid = tid;
		*at = r->waiters.n;
	}
	return &r->waiters.data[*at - 1];
}

static int hand_wait(struct reader *r, struct waiter *w, uint64_t until)
{
	struct event out = w->left;

	w->waits = false;
	if (until <= out.time)
		return 0;
	r->words.v.n = 0;
	for (size_t i = 0; w->woken && i < w->waker.v.n; i++)
		vec_push(&r->words.v, w->waker.v.data[i]);
	for (size_t i = 0; i < w->chain.v.n; i++)
		vec_push(&r->words.v, w->chain.v.data[i]);
	out.chain = r->words.v.data;
	out.chain_n = (uint32_t)r->words.v.n;
	out.weight = until - out.time;
	out.time = until;
	return r->fn(r->ctx, &out);
}

/* The thread runs. */
static int came_back(struct reader *r, int64_t tid, uint64_t time)
{
	uint64_t *at = tid > 0 ? map_find(&r->by_tid, (uint32_t)tid) : NULL;

	return at && *at && r->waiters.data[*at - 1].waits
		       ? hand_wait(r, &r->waiters.data[*at - 1], time)
		       : 0;
}

static int on_switch(struct reader *r, const struct event *ev)
{
	const struct offcpu *o = r->o;
	int64_t state = 0, next = 0;
	int code = 0;

	if (field_int(o->next_pid, ev->raw, ev->raw_size, &next))
		code = came_back(r, next, ev->time);
	if (code == 0 && ev->tid > 0 && field_int(o->prev_state, ev->raw, ev->raw_size, &state) &&
	    (state & STATE_WAITS)) {
		struct waiter *w = waiter_of(r, ev->tid);

		w->waits = true;
		w->woken = false;
		w->left = *ev;
		w->left.type = o->waits;
		w->left.raw = NULL;
		w->left.raw_size = 0;
		w->left.extra = NULL;
		w->left.record = NULL;
		w->left.have &= ~(EVENT_HAVE_RAW | EVENT_HAVE_EXTRA);
		w->left.have |= EVENT_HAVE_PERIOD;
		/* as in recordings of time off the CPU: where the program was */
		if (user_leaf(ev)) {
			w->left.ip = user_leaf(ev);
			w->left.mode = EVENT_MODE_USER;
		}
		w->chain.v.n = 0;
		offcpu_put_chain(&w->chain, ev);
	}
	return code;
}

#define IN_INTERRUPT 0x58 /* of common_flags: hard, soft, not maskable */

static void on_wake(struct reader *r, const struct event *ev, const struct field *pid,
		    const struct field *flags)
{
	const struct tasks *tasks = r->o->inner->trace->tasks;
	struct waiter *w;
	int64_t tid = 0, how = 0;
	char name[TASK_NAME];
	uint64_t *at;

	if (!field_int(pid, ev->raw, ev->raw_size, &tid) || tid <= 0 ||
	    !(at = map_find(&r->by_tid, (uint32_t)tid)) || !*at)
		return;
	w = &r->waiters.data[*at - 1];
	if (!w->waits || w->woken)
		return;
	w->woken = true;
	w->waker.v.n = 0;
	if (flags && field_int(flags, ev->raw, ev->raw_size, &how) && (how & IN_INTERRUPT)) {
		waker_from_event(r->o, ev, NULL, &w->waker);
		return;
	}
	waker_from_event(r->o, ev, tasks_name_at(tasks, ev->tid, ev->time, name), &w->waker);
}

static int offcpu_on_side(struct reader *r, const struct event *ev)
{
	int code = 0;

	if (r->o->recorded == MATCH_NONE &&
	    (ev->kind == EVENT_EXIT || (ev->kind == EVENT_SWITCH && ev->side && !ev->side->out)))
		code = came_back(r, ev->tid, ev->time);
	return code || !r->all ? code : r->fn(r->ctx, ev);
}

static int offcpu_on_event(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	const struct offcpu *o = r->o;
	int code;

	if (ev->kind != EVENT_SAMPLE)
		return offcpu_on_side(r, ev);
	if (o->recorded != MATCH_NONE)
		return hand_recorded(r, ev);
	r->last_time = ev->time;
	/* of single threads nobody says when they come back: not later than they do anything */
	code = came_back(r, ev->tid, ev->time);
	if (code == 0 && ev->type == o->sched_switch)
		code = on_switch(r, ev);
	else if (code == 0 && o->wakers && ev->type == o->waking)
		on_wake(r, ev, o->waking_pid, o->waking_flags);
	else if (code == 0 && o->wakers && ev->type == o->wakeup)
		on_wake(r, ev, o->wakeup_pid, o->wakeup_flags);
	return code || !o->beside ? code : r->fn(r->ctx, ev);
}

/* Who still waits at the end has waited until then. */
static int hand_rest(struct reader *r)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < r->waiters.n; i++)
		if (r->waiters.data[i].waits)
			code = hand_wait(r, &r->waiters.data[i], r->last_time);
	return code;
}

static void offcpu_reader_close(struct reader *r)
{
	vec_each (&r->waiters, w) {
		vec_free(&w->chain.v);
		vec_free(&w->waker.v);
	}
	vec_free(&r->waiters);
	vec_free(&r->words.v);
	map_free(&r->by_tid);
}

/* --- the source ------------------------------------------------------------------------------- */

static int read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct offcpu *o = (struct offcpu *)s;
	struct reader r = { .o = o, .fn = fn, .ctx = ctx, .all = all };
	int code = o->inner->read_ordered(o->inner, all || o->recorded == MATCH_NONE,
					  offcpu_on_event, &r, e);

	if (code == 0)
		code = hand_rest(&r);
	offcpu_reader_close(&r);
	return code;
}

static int offcpu_read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	struct offcpu *o = (struct offcpu *)s;
	struct reader r = { .o = o, .fn = fn, .ctx = ctx };
	int code;

	/* a wait begins and ends anywhere: there is one part */
	if (o->recorded == MATCH_NONE)
		return read_ordered(s, false, fn, ctx, e);
	code = o->inner->read_chunk(o->inner, chunk, offcpu_on_event, &r, e);
	offcpu_reader_close(&r);
	return code;
}

static void close_source(struct source *s)
{
	struct offcpu *o = (struct offcpu *)s;

	source_close(o->inner);
	pthread_mutex_destroy(&o->lock);
	free(o->types);
	free(o);
}

static const struct field *offcpu_field_of(const struct trace *t, uint32_t type, const char *name)
{
	return type == MATCH_NONE ? NULL : type_field(&t->types[type], name);
}

/* Which events tell of waits. */
static int find_events(struct offcpu *o, const struct trace *t, struct err *e)
{
	o->recorded = match_find(t, WAKER_EVENT);
	o->sched_switch = match_find_tracepoint(t, "sched", "sched_switch");
	o->waking = match_find_tracepoint(t, "sched", "sched_waking");
	o->wakeup = match_find_tracepoint(t, "sched", "sched_wakeup");
	if (o->recorded != MATCH_NONE) {
		o->type = t->types[o->recorded];
		return 0;
	}
	if (o->sched_switch == MATCH_NONE) {
		err_set(e, ENODATA, "the recording does not tell how long threads waited");
		return err_hint(e, "record with --off-cpu, or with -e sched:sched_switch -g");
	}
	o->prev_state = offcpu_field_of(t, o->sched_switch, "prev_state");
	o->next_pid = offcpu_field_of(t, o->sched_switch, "next_pid");
	if (!o->prev_state || !o->next_pid)
		return err_set(e, EINVAL,
			       "the recording's sched_switch has no prev_state or "
			       "next_pid");
	o->waking_pid = offcpu_field_of(t, o->waking, "pid");
	o->wakeup_pid = offcpu_field_of(t, o->wakeup, "pid");
	o->waking_flags = offcpu_field_of(t, o->waking, "common_flags");
	o->wakeup_flags = offcpu_field_of(t, o->wakeup, "common_flags");
	if (!o->waking_pid)
		o->waking = MATCH_NONE;
	if (!o->wakeup_pid)
		o->wakeup = MATCH_NONE;
	o->type.name = WAKER_EVENT;
	o->type.class = TYPE_SOFTWARE;
	o->type.role = ROLE_BPF_OUTPUT;
	o->type.pmu = WAKER_PMU;
	o->type.code = WAKER_CODE;
	o->type.has = t->types[o->sched_switch].has;
	return 0;
}

/* The types of what is handed out: that of waits, after all others or alone. */
static void set_types(struct offcpu *o, const struct trace *inner)
{
	size_t n = o->beside ? inner->n_types : 0;

	o->types = mem_alloc((n + 1) * sizeof(*o->types));
	for (size_t i = 0; i < n; i++)
		o->types[i] = inner->types[i];
	o->type.leader = (int)n;
	o->type.unit = "ns";
	o->type.spans = true;
	o->types[n] = o->type;
	o->waits = (uint32_t)n;
	o->trace.types = o->types;
	o->trace.n_types = n + 1;
}

int offcpu_new(struct source *s, enum offcpu_what what, struct source **ret, struct err *e)
{
	struct offcpu *o = mem_alloc(sizeof(*o));
	int r = find_events(o, s->trace, e);
	bool there = r == 0 && what == OFFCPU_BESIDE && o->recorded != MATCH_NONE;

	if (there)
		*ret = s;
	if (r < 0 || there) {
		free(o);
		return r;
	}
	o->inner = s;
	o->wakers = what == OFFCPU_WAKERS;
	o->beside = what == OFFCPU_BESIDE;
	o->trace = *s->trace;
	o->trace.wakers = o->waker;
	set_types(o, s->trace);
	pthread_mutex_init(&o->lock, NULL);
	o->source = *s;
	o->source.read_brief = NULL;
	o->source.trace = &o->trace;
	o->source.stable = s->stable && o->recorded != MATCH_NONE && !o->wakers;
	o->source.n_chunks = o->recorded == MATCH_NONE ? 1 : s->n_chunks;
	o->source.read_chunk = offcpu_read_chunk;
	o->source.read_ordered = read_ordered;
	o->source.close = close_source;
	*ret = &o->source;
	return 0;
}
