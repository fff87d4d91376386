/* SPDX-License-Identifier: MIT */
/* A recording: from its start to the last byte. */
#include "live/record/record.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/file.h"
#include "live/about/synth.h"

#define BUSY_MS 4 /* between two looks while much comes */
#define BUSY_BYTES (128u << 10)
#define WRITER_NICER 10
#define SETTLE_MS 500		  /* at the end, for stacks whose tables are still being built */
#define MAX_SIDE_BAND (64u << 20) /* of a flight recorder, before it begins anew */

int record_enable(struct recording *r, struct err *e)
{
	if (r->enabled)
		return 0;
	r->enabled = true;
	walked_switch(&r->walked, true);
	idle_switch(&r->idle, true);
	return capture_enable(&r->capture, e);
}

static int disable(struct recording *r)
{
	r->enabled = false;
	walked_switch(&r->walked, false);
	idle_switch(&r->idle, false);
	return capture_disable(&r->capture);
}

/* Only what tells of tasks; samples wait in their rings for a snapshot. */
static int drain_side_band(struct recording *r, struct err *e)
{
	int64_t n = record_out_drain(&r->out, e);

	if (n < 0 || (n && perfdata_write_flush(r->out.w, e) < 0))
		return -e->code;
	return record_out_size(&r->out) > MAX_SIDE_BAND ? record_out_restart(&r->out, e) : 0;
}

static int record_loop_drain(struct recording *r, struct err *e)
{
	int64_t n;

	if (r->opts->capture.overwrite)
		return drain_side_band(r, e);
	n = record_out_drain(&r->out, e);
	if (n < 0)
		return (int)n;
	r->busy = n >= BUSY_BYTES;
	if (n && record_out_round(&r->out, e) < 0)
		return -e->code;
	if (r->opts->max_size && record_out_size(&r->out) >= r->opts->max_size && !r->stopped) {
		r->stopped = true;
		record_note(r, false, "stopping: the recording has reached --max-size");
	}
	if (r->opts->switch_bytes && record_out_size(&r->out) >= r->opts->switch_bytes)
		return record_out_next(&r->out, e);
	return 0;
}

static int snapshot(struct recording *r, struct err *e)
{
	int64_t n = capture_snapshot(&r->capture, record_out_bytes, &r->out, e);

	return n < 0 ? (int)n : record_out_round(&r->out, e);
}

/* All that has come so far into the file, and go on in the next. */
static int next_file(struct recording *r, struct err *e)
{
	int64_t n;

	if (r->opts->capture.overwrite) {
		if (snapshot(r, e) < 0)
			return -e->code;
	} else {
		if (r->walked.off.walker)
			offcpu_flush(&r->walked.off);
		n = record_out_drain(&r->out, e);
		if (n < 0 || record_out_round(&r->out, e) < 0)
			return -e->code;
	}
	return record_out_next(&r->out, e);
}

/* SIGUSR2: put a flight recorder's content into a file, or go on in the next. */
static int dump(struct recording *r, struct err *e)
{
	return r->opts->switch_signal || r->opts->capture.overwrite ? next_file(r, e)
								    : record_loop_drain(r, e);
}

static int obey(void *ctx, enum control_word word, struct err *e)
{
	struct recording *r = ctx;
	const char *name = r->control.argument;

	switch (word) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (*name && capture_switch(&r->capture, name, word == CONTROL_ENABLE) < 0)
			record_note(r, true, "--control: there is no event %s", name);
		if (*name)
			return 0;
		return word == CONTROL_ENABLE ? record_enable(r, e) : disable(r);
	case CONTROL_STOP: r->stopped = true; return 0;
	case CONTROL_SNAPSHOT: return dump(r, e);
	case CONTROL_EVLIST:
		if (r->listen.list)
			r->listen.list(r->listen.ctx, r, name);
		return 0;
	default: return 0;
	}
}

static int on_signal(struct recording *r, int signal, struct err *e)
{
	if (signal == SIGCHLD) {
		r->stopped = workload_ended(&r->child, &r->exit_code) || r->stopped;
	} else if (signal == SIGUSR2) {
		return dump(r, e);
	} else if (signal != SIGUSR1) {
		r->signal = signal;
		r->stopped = true;
	}
	return 0;
}

static int ignore_bytes(void *ctx, const void *data, size_t n, struct err *e)
{
	return 0;
}

static int on_fd(struct recording *r, const struct loop_event *ev, struct err *e)
{
	switch (ev->id) {
	case RECORD_WATCH_CONTROL:
		if (control_obey(&r->control, obey, r, e) < 0)
			return -e->code;
		if (ev->hup)
			loop_unwatch(&r->loop, ev->fd);
		return 0;
	case RECORD_WATCH_TRIGGER:
		if (ev->hup)
			capture_hung_up(&r->triggers, &r->loop, RECORD_WATCH_TRIGGER, ev->fd);
		return capture_drain(&r->triggers, ignore_bytes, NULL, e) > 0 ? next_file(r, e) : 0;
	default:
		r->wakeups++;
		/* nothing more will come; a command is waited for */
		if (ev->hup && !capture_hung_up(&r->capture, &r->loop, RECORD_WATCH_RING, ev->fd))
			r->stopped = r->stopped || !r->target.command;
		return record_loop_drain(r, e);
	}
}

/* What came slowly is not much, however long it took. */
static int record_loop_flush(struct recording *r, struct err *e)
{
	bool busy = r->busy;
	int code = record_loop_drain(r, e);

	if (r->listen.tick)
		r->listen.tick(r->listen.ctx, r);
	r->busy = r->busy && busy;
	return code;
}

static int record_loop_on_event(struct recording *r, const struct loop_event *ev, struct err *e)
{
	if (ev->kind == LOOP_SIGNAL)
		return on_signal(r, ev->id, e);
	if (ev->kind == LOOP_FD)
		return on_fd(r, ev, e);
	switch (ev->id) {
	case RECORD_TIMER_ENABLE: return record_enable(r, e);
	case RECORD_TIMER_DISABLE: return disable(r);
	case RECORD_TIMER_SWITCH: return next_file(r, e);
	case RECORD_TIMER_END: r->stopped = true; return 0;
	default: return record_loop_flush(r, e);
	}
}

/*
 * The kernel wakes us when a ring is half full. While much comes we look more often: who needs a
 * little of the CPU every few milliseconds gets it in time, who copies half a ring has to wait.
 */
static int record_busily(struct recording *r, struct err *e)
{
	while (!r->stopped) {
		struct loop_event ev;
		int code = loop_wait(&r->loop, r->busy ? BUSY_MS : -1, &ev, e);

		if (code >= 0)
			code = code ? record_loop_on_event(r, &ev, e) : record_loop_drain(r, e);
		if (code < 0)
			return code;
	}
	return 0;
}

/* Where all CPUs are wanted, the writer goes before those it watches: it needs little, and what
 * it comes too late for is lost. */
int record_loop(struct recording *r, struct err *e)
{
	int usual = getpriority(PRIO_PROCESS, 0), code;

	setpriority(PRIO_PROCESS, 0, usual - WRITER_NICER);
	code = record_busily(r, e);
	setpriority(PRIO_PROCESS, 0, usual);
	return code;
}

/* Who woke others may be nobody that is recorded: say what they have mapped. */
static int tell_wakers(struct recording *r, struct err *e)
{
	const struct capture_event *ev = capture_tracking(&r->capture);
	const struct offcpu *off = &r->walked.off;
	struct synth s = { .fn = record_out_bytes, .ctx = &r->out };

	if (!ev || !ev->n_ids || r->target.system_wide)
		return 0;
	capture_synth(ev, &s);
	vec_each (&off->waker_list, pid)
		if (*pid > 0 && !walker_off_is_target(off->walker, *pid) &&
		    synth_process(&s, *pid, e) < 0)
			return -e->code;
	return 0;
}

static int finish_data(struct recording *r, struct err *e)
{
	if (r->opts->capture.overwrite)
		return snapshot(r, e);
	if (r->walked.walker && walked_drain(&r->walked, true, record_out_bytes, &r->out, e) < 0)
		return -e->code;
	if (r->walked.off.walker && tell_wakers(r, e) < 0)
		return -e->code;
	return record_loop_drain(r, e);
}

/* A command that still runs goes, too, as with perf. At a second signal it is not waited for. */
static void end_child(struct recording *r)
{
	struct loop_event ev;

	while (r->child.pid > 0 && !workload_ended(&r->child, &r->exit_code)) {
		if (loop_wait(&r->loop, -1, &ev, &(struct err){ 0 }) < 0)
			return;
		if (ev.kind == LOOP_SIGNAL && ev.id != SIGCHLD && ev.id != SIGUSR2)
			return;
	}
}

int record_start(struct recording *r, struct err *e)
{
	int code = 0;

	if (r->child.pid > 0) {
		code = workload_start(&r->child, r->argv[0], &r->exit_code, e);
		r->started = code == 0;
	}
	return code;
}

int record_stop(struct recording *r, bool failed, struct err *e)
{
	int code = 0;

	if (failed && r->child.pid > 0 && !r->started)
		workload_cancel(&r->child);
	if (!r->out.opts) /* nothing was begun */
		return 0;
	disable(r);
	if (r->walked.walker && !failed)
		walker_settle(r->walked.walker, SETTLE_MS);
	if (!failed)
		code = finish_data(r, e);
	if (r->child.pid > 0)
		kill(r->child.pid, SIGTERM);
	return code;
}

int record_close(struct recording *r, bool failed, struct err *e)
{
	bool runs = r->child.pid > 0, file = r->out.w != NULL;
	int code;

	if (!r->out.opts)
		return 0;
	code = record_out_close(&r->out, failed, e);
	capture_unwatch(&r->capture, &r->loop);
	end_child(r);
	if (runs && !r->signal)
		r->exit_code = 0; /* it did not choose its end */
	if (failed && file && r->argv && !r->started && r->out.path)
		file_drop(r->out.path); /* nothing ever ran */
	return code;
}
