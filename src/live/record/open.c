/* SPDX-License-Identifier: MIT */
/* A recording: what is opened before it starts. */
#include "live/record/record.h"

#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "kern/tracefs.h"
#include "live/ourselves.h"

#define MS 1000000u   /* ns */
#define FLUSH_MS 500u /* rings that fill slowly are emptied so often: little is lost with us */

void record_note(const struct recording *r, bool urgent, const char *fmt, ...)
{
	AUTO_STRBUF text = { 0 };
	va_list ap;

	if (!r->listen.note)
		return;
	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	r->listen.note(r->listen.ctx, urgent, strbuf_str(&text));
}

static void on_fallback(void *ctx, const char *wanted, const char *taken, const char *why)
{
	struct recording *r = ctx;
	const char *colon = strstr(why, ": ");

	record_note(r, false, "%s; recording %s instead of %s", colon ? colon + 2 : why, taken,
		    wanted);
}

static void on_wrote(void *ctx, const char *name)
{
	record_note(ctx, false, "wrote %s", name);
}

static bool any_tracepoint(const struct spec_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->spec[i].kind == SPEC_TRACEPOINT)
			return true;
	return false;
}

/* Threads that come and go while events are opened could be missed or taken twice: open again
 * until the list stays the same. */
static int open_capture(struct recording *r, struct err *e)
{
	struct record_opts *a = r->opts;
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

/* --call-graph auto: walked in the kernel, or by frame pointers with a line that says why. */
static void choose_walker(struct recording *r)
{
	struct capture_opts *o = &r->opts->capture;
	struct err why = { 0 };

	if (o->chain != CAPTURE_AUTO)
		return;
	if (walked_fits(&r->opts->events, o, &why) == 0 &&
	    walked_open(&r->walked, &r->opts->events, &r->target, o, true, &why) == 0) {
		walked_prepare(&r->walked, &r->opts->events, o);
		if (r->walked.copies)
			record_note(r, false, "stacks are copied and unwound while recording: %s",
				    why.msg);
		return;
	}
	o->chain = CAPTURE_FP;
	record_note(r, false, "call chains by frame pointers: %s", why.msg);
}

/* --off-cpu needs the walker for itself, whoever makes the other samples. */
static int choose_off_cpu(struct recording *r, struct err *e)
{
	struct capture_opts *o = &r->opts->capture;

	if (!o->off.on || r->walked.walker)
		return 0;
	if (walked_open(&r->walked, &r->opts->events, &r->target, o, false, e) < 0) {
		if (!e->hint[0])
			err_hint(e, "--off-cpu needs BPF; kymo doctor tells what is missing");
		return -e->code;
	}
	walked_prepare(&r->walked, &r->opts->events, o);
	return 0;
}

/* --switch-output-event: events that are only waited for. */
static int open_triggers(struct recording *r, struct err *e)
{
	struct capture_opts o = { .period = 1,
				  .inherit = r->opts->capture.inherit,
				  .no_tracking = true,
				  .no_buffering = true,
				  .ring_size = 65536 };

	return r->opts->triggers.n
		       ? capture_open(&r->opts->triggers, &r->target, &o, &r->triggers, e)
		       : 0;
}

static void set_priority(const struct recording *r)
{
	struct sched_param p = { .sched_priority = r->opts->realtime };

	if (r->opts->realtime && sched_setscheduler(0, SCHED_FIFO, &p) < 0)
		record_note(r, true, "-r %d: %s", r->opts->realtime, strerror(errno));
}

static bool to_pipe(const struct record_opts *a)
{
	return a->output && strcmp(a->output, "-") == 0;
}

/* A recording without these hits is what perf makes; it is still worth having. */
static void attach_idle(struct recording *r)
{
	struct err why = { 0 };

	if (idle_attach(&r->idle, &r->capture, &why) == 0)
		return;
	record_note(r, true,
		    "what happens while a CPU idles may be missing: this kernel keeps it from "
		    "perf, and %s",
		    why.msg);
	idle_close(&r->idle);
}

static int open_all(struct recording *r, struct err *e)
{
	struct record_opts *a = r->opts;
	int code = loop_open(&r->loop, e);
	bool idle;

	if (code == 0 && r->argv)
		code = workload_prepare_to(&r->child, r->argv, to_pipe(a) ? STDERR_FILENO : -1, e);
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
	set_priority(r);
	r->enabled = a->capture.on_exec;
	/* so that nothing comes between what is looked up and what is recorded */
	if (!a->delayed && !r->target.system_wide && !r->target.command)
		code = record_enable(r, e);
	if (code < 0)
		return code;
	r->out = (struct record_out){ .opts = a,
				      .capture = &r->capture,
				      .lock = PTHREAD_MUTEX_INITIALIZER };
	r->out.walked = r->walked.walker ? &r->walked : NULL;
	r->out.idle = &r->idle;
	r->out.pipe = to_pipe(a);
	r->out.wrote = on_wrote;
	r->out.ctx = r;
	if (any_tracepoint(&a->events))
		r->out.tracefs = tracefs_find(e);
	r->out.wall_ns = loop_clock(CLOCK_REALTIME);
	r->out.clock_ns = loop_clock(a->capture.has_clock ? a->capture.clock_id : CLOCK_MONOTONIC);
	return record_out_open(&r->out, e);
}

/* What the loop will wait for. */
static int set_timers(struct recording *r, struct err *e)
{
	const struct record_opts *a = r->opts;
	int code = loop_timer(&r->loop, RECORD_TIMER_FLUSH, FLUSH_MS * MS, FLUSH_MS * MS, e);

	for (unsigned i = 0; code >= 0 && i < a->n_spans; i++) {
		code = loop_timer(&r->loop, RECORD_TIMER_ENABLE, a->span[i].from * MS, 0, e);
		if (code >= 0 && a->span[i].to)
			code = loop_timer(&r->loop, RECORD_TIMER_DISABLE, a->span[i].to * MS, 0, e);
	}
	if (code >= 0 && a->switch_ns)
		code = loop_timer(&r->loop, RECORD_TIMER_SWITCH, a->switch_ns, a->switch_ns, e);
	if (code >= 0 && a->limit_ns)
		code = loop_timer(&r->loop, RECORD_TIMER_END, a->limit_ns, 0, e);
	if (code >= 0 && r->control.fd >= 0)
		code = loop_watch(&r->loop, RECORD_WATCH_CONTROL, r->control.fd, e);
	if (code >= 0)
		code = capture_watch(&r->capture, &r->loop, RECORD_WATCH_RING, e);
	if (code >= 0 && r->walked.walker && walker_fd(r->walked.walker) >= 0)
		code = loop_watch(&r->loop, RECORD_WATCH_WALKER, walker_fd(r->walked.walker), e);
	if (code >= 0 && a->triggers.n) {
		code = capture_watch(&r->triggers, &r->loop, RECORD_WATCH_TRIGGER, e);
		code = code < 0 ? code : capture_enable(&r->triggers, e);
	}
	return code < 0 ? code : 0;
}

int record_open(struct recording *r, struct record_opts *o, char **argv,
		const struct record_listen *listen, struct err *e)
{
	int code;

	*r = (struct recording){ .opts = o,
				 .listen = listen ? *listen : (struct record_listen){ 0 },
				 .argv = argv,
				 .control = { .fd = -1, .ack_fd = -1 },
				 .loop = { .epoll_fd = -1 } };
	o->target.command = argv != NULL;
	code = argv ? workload_check(argv[0], &r->exit_code, e) : 0;
	if (code == 0)
		code = target_make(&o->target, &r->target, e);
	if (code == 0 && o->control)
		code = control_open(&r->control, o->control, e);
	if (code == 0)
		code = open_all(r, e);
	if (code == 0 && !o->delayed) {
		walked_switch(&r->walked, true); /* the capture may be, or wait for its exec */
		code = record_enable(r, e);
	}
	return code == 0 ? set_timers(r, e) : code;
}

void record_free(struct recording *r)
{
	if (r->out.opts)
		record_out_free(&r->out);
	walked_close(&r->walked);
	capture_close(&r->capture);
	idle_close(&r->idle);
	capture_close(&r->triggers);
	control_close(&r->control);
	target_free(&r->target);
	if (r->loop.epoll_fd >= 0)
		loop_close(&r->loop);
}
