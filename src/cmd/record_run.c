/* SPDX-License-Identifier: MIT */
/* kymo record: from opening the events to the last byte. */
#include "cmd/record.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/event_opts.h"
#include "kern/tracefs.h"
#include "live/control.h"
#include "live/loop.h"
#include "live/walked.h"
#include "live/workload.h"

enum {
	WATCH_RING,
	WATCH_WALKER,
	WATCH_CONTROL,
	TIMER_DELAY,
	TIMER_SWITCH,
	TIMER_ALIVE,
	TIMER_FLUSH
};

#define FLUSH_MS \
	250 /* rings that fill slowly are emptied this often, so that little is lost with us */

struct run {
	struct record_args *a;
	struct target target;
	struct capture capture;
	struct walked walked; /* walker NULL: the kernel makes the samples */
	struct record_out out;
	struct loop loop;
	struct control control;
	struct workload child;
	int exit_code, signal;
	bool stopped, enabled;
};

static void on_fallback(void *ctx, const char *wanted, const char *taken, const char *why)
{
	struct run *r = ctx;
	const char *colon = strstr(why, ": ");

	if (!r->a->quiet)
		command_note("%s; recording %s instead of %s", colon ? colon + 2 : why, taken,
			     wanted);
}

static uint64_t now_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int enable(struct run *r, struct err *e)
{
	if (r->enabled)
		return 0;
	r->enabled = true;
	return capture_enable(&r->capture, e);
}

static int drain(struct run *r, struct err *e)
{
	int64_t n;

	if (r->a->capture.overwrite)
		return 0; /* only what a snapshot asks for */
	n = r->walked.walker ? walked_drain(&r->walked, record_out_bytes, &r->out, e)
			     : capture_drain(&r->capture, record_out_bytes, &r->out, e);
	if (n < 0)
		return (int)n;
	if (n && record_out_round(&r->out, e) < 0)
		return -e->code;
	if (r->a->max_size && record_out_size(&r->out) >= r->a->max_size) {
		r->stopped = true;
		if (!r->a->quiet)
			command_note("stopping: the recording has reached --max-size");
	}
	if (r->a->switch_bytes && record_out_size(&r->out) >= r->a->switch_bytes)
		return record_out_next(&r->out, e);
	return 0;
}

static int snapshot(struct run *r, struct err *e)
{
	int64_t n = capture_snapshot(&r->capture, record_out_bytes, &r->out, e);

	return n < 0 ? (int)n : record_out_round(&r->out, e);
}

/* SIGUSR2: put a flight recorder's content into a file, or go on in the next. */
static int dump(struct run *r, struct err *e)
{
	int code = r->a->capture.overwrite ? snapshot(r, e) : drain(r, e);

	if (code < 0 || !(r->a->switch_signal || r->a->capture.overwrite))
		return code;
	return record_out_next(&r->out, e);
}

static int obey_control(struct run *r, struct err *e)
{
	for (;;) {
		int code = 0;

		switch (control_next(&r->control)) {
		case CONTROL_NONE: return 0;
		case CONTROL_ENABLE: code = enable(r, e); break;
		case CONTROL_DISABLE:
			code = capture_disable(&r->capture);
			r->enabled = false;
			break;
		case CONTROL_STOP: r->stopped = true; break;
		case CONTROL_SNAPSHOT: code = dump(r, e); break;
		case CONTROL_PING: break;
		case CONTROL_UNKNOWN: continue;
		}
		if (code < 0)
			return code;
		control_ack(&r->control);
		if (r->stopped)
			return 0;
	}
}

static bool reap(struct run *r)
{
	int status;

	if (r->child.pid <= 0 || waitpid(r->child.pid, &status, WNOHANG) != r->child.pid)
		return false;
	r->exit_code = workload_exit_code(status);
	r->child.pid = 0;
	return true;
}

static int on_event(struct run *r, const struct loop_event *ev, struct err *e)
{
	if (ev->kind == LOOP_SIGNAL) {
		if (ev->id == SIGCHLD) {
			r->stopped = r->stopped || reap(r);
		} else if (ev->id == SIGUSR2) {
			return dump(r, e);
		} else if (ev->id != SIGUSR1) {
			r->signal = ev->id;
			r->stopped = true;
		}
		return 0;
	}
	switch (ev->id) {
	case WATCH_CONTROL: return obey_control(r, e);
	case TIMER_DELAY: return enable(r, e);
	case TIMER_SWITCH: return record_out_next(&r->out, e);
	case TIMER_ALIVE: r->stopped = r->stopped || !target_alive(&r->target); return 0;
	default: return drain(r, e);
	}
}

static int set_timers(struct run *r, bool command, struct err *e)
{
	const uint64_t ms = 1000000;
	const struct record_args *a = r->a;
	int code = loop_timer(&r->loop, TIMER_FLUSH, FLUSH_MS * ms, FLUSH_MS * ms, e);

	if (code >= 0 && a->delay_ms > 0)
		code = loop_timer(&r->loop, TIMER_DELAY, (uint64_t)a->delay_ms * ms, 0, e);
	if (code >= 0 && a->switch_ns)
		code = loop_timer(&r->loop, TIMER_SWITCH, a->switch_ns, a->switch_ns, e);
	if (code >= 0 && (a->target.pids || a->target.tids) && !command)
		code = loop_timer(&r->loop, TIMER_ALIVE, 100 * ms, 100 * ms, e);
	if (code >= 0 && r->control.fd >= 0)
		code = loop_watch(&r->loop, WATCH_CONTROL, r->control.fd, e);
	if (code >= 0)
		code = capture_watch(&r->capture, &r->loop, WATCH_RING, e);
	if (code >= 0 && r->walked.walker)
		code = loop_watch(&r->loop, WATCH_WALKER, walker_fd(r->walked.walker), e);
	return code < 0 ? code : 0;
}

/* A ring that hangs up (its process has ended) stays ready for ever: drain on the timer then. */
static int record(struct run *r, struct err *e)
{
	while (!r->stopped) {
		struct loop_event ev;
		int code = loop_wait(&r->loop, -1, &ev, e);

		if (code < 0)
			return code;
		code = on_event(r, &ev, e);
		if (code < 0)
			return code;
	}
	return 0;
}

static bool any_tracepoint(const struct spec_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->spec[i].kind == SPEC_TRACEPOINT)
			return true;
	return false;
}

/* kymo itself is no part of what is looked at, as far as filters can say so. */
static void leave_ourselves_out(struct record_args *a)
{
	for (size_t i = 0; a->exclude_perf && i < a->events.n; i++) {
		struct event_spec *s = &a->events.spec[i];

		if (s->kind != SPEC_TRACEPOINT)
			continue;
		s->filter = s->filter
				    ? arena_printf(&a->events.arena, "(%s) && (common_pid != %d)",
						   s->filter, getpid())
				    : arena_printf(&a->events.arena, "common_pid != %d", getpid());
	}
}

/* --call-graph auto: stacks walked in the kernel, or by frame pointers with a line that says why.
 */
static void choose_walker(struct run *r)
{
	struct capture_opts *o = &r->a->capture;
	struct err why = { 0 };

	if (o->chain != CAPTURE_AUTO)
		return;
	if (walked_fits(&r->a->events, o, &why) == 0 &&
	    walked_open(&r->walked, &r->a->events, &r->target, o, &why) == 0) {
		walked_prepare(o);
		return;
	}
	o->chain = CAPTURE_FP;
	if (!r->a->quiet)
		command_note("call chains by frame pointers: %s", why.msg);
}

static int open_all(struct run *r, char **argv, struct err *e)
{
	struct record_args *a = r->a;
	int code = loop_open(&r->loop, e);

	if (code == 0 && argv)
		code = workload_prepare(&r->child, argv, e);
	if (code < 0)
		return code;
	if (r->target.command)
		r->target.threads.tid[0] = r->child.pid;
	leave_ourselves_out(a);
	a->capture.inherit = !a->no_inherit;
	a->capture.delayed = a->delay_ms != 0;
	a->capture.on_exec = r->target.command && !a->delay_ms;
	a->capture.fallback = on_fallback;
	a->capture.ctx = r;
	choose_walker(r);
	code = capture_open(&a->events, &r->target, &a->capture, &r->capture, e);
	if (code == 0 && r->walked.walker)
		code = walked_attach(&r->walked, &r->capture, e);
	if (code < 0)
		return code;
	r->enabled = a->capture.on_exec;
	r->out = (struct record_out){ .a = a, .capture = &r->capture };
	r->out.pipe = a->output && strcmp(a->output, "-") == 0;
	if (any_tracepoint(&a->events))
		r->out.tracefs = tracefs_find(e);
	r->out.wall_ns = now_ns(CLOCK_REALTIME);
	r->out.clock_ns = now_ns(a->capture.has_clock ? a->capture.clock_id : CLOCK_MONOTONIC);
	return record_out_open(&r->out, e);
}

static void tell_stacks(struct run *r)
{
	struct walker_stats s;
	char lost[32];

	if (!r->walked.walker)
		return;
	walker_stats(r->walked.walker, &s);
	if (!r->a->quiet && s.samples)
		command_note("stacks walked in the kernel: %.1f%% reached the bottom",
			     walked_whole(&s));
	for (unsigned i = 0; r->a->verbose && i < UNWIND_END_MAX; i++)
		if (s.end[i])
			command_note("  %8llu stacks: %s", (unsigned long long)s.end[i],
				     unwind_end_text(i));
	if (s.lost)
		command_note("%s samples were lost: the walker's ring ran full",
			     str_thousands(s.lost, lost, sizeof(lost)));
}

static void tell_losses(struct run *r)
{
	uint64_t lost = r->walked.walker ? 0 : capture_losses(&r->capture);
	char n[32], size[32];

	if (!lost || r->a->capture.overwrite)
		return;
	command_note("%s events were lost: the rings (%s each) ran full. A larger one keeps them: "
		     "-m %zuM",
		     str_thousands(lost, n, sizeof(n)),
		     str_bytes(r->capture.ring_size, size, sizeof(size)),
		     (r->capture.ring_size * 4) >> 20 ? (r->capture.ring_size * 4) >> 20 : 1);
}

static void tell_result(struct run *r)
{
	char n[32];

	if (r->a->quiet)
		return;
	fprintf(stderr, "[ kymo record: Captured and wrote %.3f MB %s",
		(double)r->out.bytes / 1048576, r->out.pipe ? "to the pipe" : r->out.path);
	if (!r->out.pipe)
		fprintf(stderr, " (%s samples)", str_thousands(r->out.samples, n, sizeof(n)));
	fputs(" ]\n", stderr);
}

static int finish(struct run *r, struct err *e)
{
	int code;

	capture_disable(&r->capture);
	code = r->a->capture.overwrite ? snapshot(r, e) : drain(r, e);
	if (r->child.pid > 0) { /* told to stop while it runs: it goes too */
		int status;

		kill(r->child.pid, SIGTERM);
		waitpid(r->child.pid, &status, 0);
		r->child.pid = 0;
		if (r->signal)
			r->exit_code = workload_exit_code(status);
	}
	tell_losses(r);
	tell_stacks(r);
	if (r->out.w) {
		int closed = record_out_close(&r->out, e);

		code = code < 0 ? code : closed;
	}
	return code;
}

int record_run(struct record_args *a, char **argv, struct err *e)
{
	struct run r = { .a = a, .control = { .fd = -1, .ack_fd = -1 } };
	bool started = false;
	struct err first;
	int code;

	a->target.command = argv != NULL;
	code = target_make(&a->target, &r.target, e);
	if (code == 0 && a->control)
		code = control_open(&r.control, a->control, e);
	if (code == 0)
		code = open_all(&r, argv, e);
	if (code == 0 && !a->delay_ms)
		code = enable(&r, e);
	if (code == 0)
		code = set_timers(&r, argv != NULL, e);
	if (code == 0 && r.child.pid > 0) {
		code = workload_start(&r.child, argv[0], &r.exit_code, e);
		started = code == 0;
	}
	if (code == 0)
		code = record(&r, e);
	first = *e;
	if (code < 0 && r.child.pid > 0 && !started)
		workload_cancel(&r.child);
	if (r.out.w) { /* whatever went wrong, the file is made whole */
		int ended = finish(&r, e);

		if (code < 0) {
			*e = first;
			if (argv && !started && r.out.path)
				unlink(r.out.path); /* nothing ever ran */
		} else {
			code = ended;
		}
		if (code == 0)
			tell_result(&r);
	}
	walked_close(&r.walked);
	capture_close(&r.capture);
	control_close(&r.control);
	target_free(&r.target);
	free(r.out.path);
	if (code < 0 && r.exit_code) {
		command_error("record", e);
		return r.exit_code;
	}
	return code < 0 ? code : r.exit_code;
}
