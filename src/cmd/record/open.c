/* SPDX-License-Identifier: MIT */
/* kymo record: what is opened before it starts. */
#include "cmd/record/record.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/tracefs.h"
#include "live/ourselves.h"

static void on_fallback(void *ctx, const char *wanted, const char *taken, const char *why)
{
	struct recording *r = ctx;
	const char *colon = strstr(why, ": ");

	if (r->a->quiet)
		return;
	command_note("%s; recording %s instead of %s", colon ? colon + 2 : why, taken, wanted);
}

static uint64_t now_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool any_tracepoint(const struct spec_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->spec[i].kind == SPEC_TRACEPOINT)
			return true;
	return false;
}

/*
 * Threads that come and go while events are opened on the others could be missed or taken
 * twice: open again until the list is the same before and after.
 */
static int open_capture(struct recording *r, struct err *e)
{
	struct record_args *a = r->a;
	int code;

	for (int tries = 0;; tries++) {
		code = capture_open(&a->events, &r->target, &a->capture, &r->capture, e);
		if (code < 0 || tries == 10 || target_same(&a->target, &r->target))
			return code;
		capture_close(&r->capture);
		target_free(&r->target);
		code = target_make(&a->target, &r->target, e);
		if (code < 0)
			return code;
	}
}

/* --call-graph auto: stacks walked in the kernel, or by frame pointers with a line that says why.
 */
static void choose_walker(struct recording *r)
{
	struct capture_opts *o = &r->a->capture;
	struct err why = { 0 };

	if (o->chain != CAPTURE_AUTO)
		return;
	if (walked_fits(&r->a->events, o, &why) == 0 &&
	    walked_open(&r->walked, &r->a->events, &r->target, o, true, &why) == 0) {
		walked_prepare(&r->walked, &r->a->events, o);
		if (r->walked.copies && !r->a->quiet)
			command_note("stacks are copied and unwound while recording: %s", why.msg);
		return;
	}
	o->chain = CAPTURE_FP;
	if (!r->a->quiet)
		command_note("call chains by frame pointers: %s", why.msg);
}

/* --off-cpu needs the walker for itself, whoever makes the other samples. */
static int choose_off_cpu(struct recording *r, struct err *e)
{
	struct capture_opts *o = &r->a->capture;

	if (!o->off.on || r->walked.walker)
		return 0;
	if (walked_open(&r->walked, &r->a->events, &r->target, o, false, e) < 0) {
		if (!e->hint[0])
			err_hint(e, "--off-cpu needs BPF; kymo doctor tells what is missing");
		return -e->code;
	}
	walked_prepare(&r->walked, &r->a->events, o);
	return 0;
}

/* --switch-output-event: events that are only waited for. */
static int open_triggers(struct recording *r, struct err *e)
{
	struct capture_opts o = { .period = 1,
				  .inherit = r->a->capture.inherit,
				  .no_tracking = true,
				  .no_buffering = true,
				  .ring_size = 65536 };

	return r->a->triggers.n ? capture_open(&r->a->triggers, &r->target, &o, &r->triggers, e)
				: 0;
}

static void record_open_put_attr(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	fprintf(stderr, "  %-32s %s\n", name, value);
}

static void set_priority(const struct recording *r)
{
	struct sched_param p = { .sched_priority = r->a->realtime };

	if (r->a->realtime && sched_setscheduler(0, SCHED_FIFO, &p) < 0)
		command_note("-r %d: %s", r->a->realtime, strerror(errno));
}

static void tell_opened(const struct recording *r)
{
	char size[32];

	for (size_t i = 0; r->a->verbose > 1 && i < r->capture.n; i++) {
		const struct capture_event *ev = &r->capture.event[i];

		fprintf(stderr, "perf_event_attr of %s, opened %zu times:\n", ev->spec->name,
			ev->n_ids);
		capture_settings(&r->capture, ev, record_open_put_attr, NULL);
	}
	if (r->a->verbose)
		command_note("%zu rings of %s", r->capture.n_rings,
			     str_bytes(r->capture.ring_size, size, sizeof(size)));
}

static bool to_pipe(const struct record_args *a)
{
	return a->output && strcmp(a->output, "-") == 0;
}

/* A recording without these hits is what perf makes; it is still worth having. */
static void attach_idle(struct recording *r)
{
	struct err why = { 0 };

	if (idle_attach(&r->idle, &r->capture, &why) == 0)
		return;
	command_note("what happens while a CPU idles may be missing: this kernel keeps it from "
		     "perf, and %s",
		     why.msg);
	idle_close(&r->idle);
}

int record_open(struct recording *r, char **argv, struct err *e)
{
	struct record_args *a = r->a;
	int code = loop_open(&r->loop, e);
	bool idle;

	if (code == 0 && argv)
		code = workload_prepare_to(&r->child, argv, to_pipe(a) ? STDERR_FILENO : -1, e);
	if (code < 0)
		return code;
	if (r->target.command)
		r->target.threads.tid[0] = r->child.pid;
	idle = idle_choose(&r->idle, &a->events, &r->target, &a->capture);
	if (a->exclude_perf >= 0 && (r->target.system_wide || a->exclude_perf > 0))
		ourselves_filter(&a->events, a->exclude_perf > 0);
	a->capture.inherit = !a->no_inherit;
	a->capture.delayed = a->delayed;
	a->capture.on_exec = r->target.command && !a->delayed;
	a->capture.fallback = on_fallback;
	a->capture.ctx = r;
	choose_walker(r);
	code = choose_off_cpu(r, e);
	if (code == 0)
		code = open_capture(r, e);
	if (code == 0 && r->walked.walker)
		code = walked_attach(&r->walked, &r->capture, e);
	if (code == 0 && idle)
		attach_idle(r);
	if (code == 0)
		code = open_triggers(r, e);
	if (code < 0)
		return code;
	if (a->exclude_perf >= 0 && r->target.system_wide && r->walked.walker)
		r->walked.off.leave_out = ourselves_pid();
	if (a->exclude_perf >= 0 && r->target.system_wide && r->walked.samples)
		r->walked.leave_out = ourselves_pid();
	else if (a->exclude_perf >= 0)
		ourselves_drop_samples(&r->capture);
	tell_opened(r);
	set_priority(r);
	r->enabled = a->capture.on_exec;
	/* so that nothing comes between what is looked up and what is recorded */
	if (!a->delayed && !r->target.system_wide && !r->target.command)
		code = record_enable(r, e);
	if (code < 0)
		return code;
	r->out = (struct record_out){ .a = a,
				      .capture = &r->capture,
				      .lock = PTHREAD_MUTEX_INITIALIZER };
	r->out.walked = r->walked.walker ? &r->walked : NULL;
	r->out.idle = &r->idle;
	r->out.pipe = to_pipe(a);
	if (any_tracepoint(&a->events))
		r->out.tracefs = tracefs_find(e);
	r->out.wall_ns = now_ns(CLOCK_REALTIME);
	r->out.clock_ns = now_ns(a->capture.has_clock ? a->capture.clock_id : CLOCK_MONOTONIC);
	return record_out_open(&r->out, e);
}
