/* SPDX-License-Identifier: MIT */
/*
 * What a session must know of processes: a ring a CPU tells of mappings, forks, execs and exits, so
 * that functions of processes that are gone have names; and the walker gives its code to the
 * programs, so that stacks need no frame pointers. Without the right to either, /proc is read when
 * a stack comes, and frame pointers have to do.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "live/run/session.h"

int run_sideband_open(struct run *r, struct err *e)
{
	struct run_sideband *s = &r->sideband;
	const struct perf_event_attr at_once = {
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC, .sample_period = 1, .wakeup_events = 1
	};
	struct err none = { 0 };
	int k;

	if (r->o.walker && (!r->p->uses_ustack || r->o.no_sideband))
		run_walker_depth(r->o.walker, 0); /* run_sideband_close() waits for it */
	if ((!r->p->uses_ustack && !r->p->uses_usym) || r->o.no_sideband)
		return 0;
	if (r->p->uses_ustack) {
		s->opening = r->o.walker ? r->o.walker : run_walker_begin(r->o.pid);
		r->o.walker = NULL;
	}
	if (s->opening)
		run_walker_depth(s->opening, r->p->stack_depth);
	k = side_rings_open(&s->rings, at_once, -1, &none);
	if (k < 0) {
		s->why = none;
		run_walker_cancel(s->opening);
		s->opening = NULL;
	}
	s->walked.side_type = SIDE_RINGS_SAMPLE;
	for (size_t i = 0; i < s->rings.n; i++) {
		k = loop_watch(&r->loop, RUN_ID_SIDEBAND, s->rings.ring[i].fd, e);
		if (k < 0)
			return k;
	}
	return k < 0 && s->rings.n ? k : 0;
}

void run_sideband_code(struct run *r)
{
	if (r->sideband.opening)
		r->sideband.walked.walker = run_walker_loaded(r->sideband.opening);
}

int run_sideband_wait(struct run *r, struct err *e)
{
	struct run_sideband *s = &r->sideband;
	int k = 0;

	if (!s->opening)
		return 0;
	s->walked.walker = run_walker_end(s->opening, &s->why);
	s->opening = NULL;
	if (s->walked.walker)
		k = loop_watch(&r->loop, RUN_ID_SIDEBAND, walker_fd(s->walked.walker), e);
	return k < 0 ? k : 0;
}

/* Names are told what the walker is told. */
static void run_sideband_on_side(void *ctx, const struct perf_event_header *h,
				 const struct walker_mmap *m)
{
	struct run *r = ctx;
	const uint32_t *u = (const uint32_t *)(h + 1);

	if (m)
		run_names_mmap(r, m);
	else if (h->type == PERF_RECORD_FORK && u[0] != u[1])
		run_names_fork(r, (int32_t)u[0], (int32_t)u[1]);
	else if (h->type == PERF_RECORD_COMM && (h->misc & PERF_RECORD_MISC_COMM_EXEC))
		run_names_exec(r, (int32_t)u[0]);
}

/* A stack finished in user space: its provisional number now leads to that of equal stacks. */
static int on_stack(void *ctx, const struct walker_sample *s)
{
	struct run *r = ctx;
	uint64_t value[1 + 128] = { 0 }, id;
	uint32_t depth = r->p->stack_depth < 127 ? r->p->stack_depth : 127;

	if (s->kind != WALKER_STACK || !s->n_user || r->map_fd[LANG_MAP_STACKS] < 0)
		return 0;
	depth = s->state < depth ? s->state : depth;
	value[0] = s->n_user < depth ? s->n_user : depth;
	memcpy(value + 1, s->user, value[0] * 8);
	id = lang_stack_id(value + 1, value[0], s->state);
	bpf_map_set(r->map_fd[LANG_MAP_STACKS], &id, value);
	*map_at(&r->sideband.same, s->stack) = id;
	run_names_process(r, s->pid);
	return 0;
}

uint64_t run_sideband_stack(const struct run *r, uint64_t id)
{
	const uint64_t *same = map_find(&r->sideband.same, id);

	return same ? *same : id;
}

void run_sideband_drain(struct run *r)
{
	struct run_sideband *s = &r->sideband;
	struct err e = { 0 };

	if (!s->rings.n)
		return;
	walked_side(&s->walked, s->rings.ring, s->rings.n, run_sideband_on_side, r, &e);
	if (s->walked.walker)
		walker_poll(s->walked.walker, 0, on_stack, r, &e);
}

void run_sideband_settle(struct run *r)
{
	run_sideband_drain(r);
	if (!r->sideband.walked.walker)
		return;
	walker_settle(r->sideband.walked.walker, 1000);
	run_sideband_drain(r);
}

void run_sideband_close(struct run *r)
{
	struct run_sideband *s = &r->sideband;

	if (s->opening) { /* a walker that is still being opened belongs to its thread */
		s->walked.walker = NULL;
		run_walker_cancel(s->opening);
	}
	run_walker_cancel(r->o.walker);
	side_rings_close(&s->rings);
	walked_close(&s->walked);
	map_free(&s->same);
	*s = (struct run_sideband){ 0 };
}
