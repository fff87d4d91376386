/* SPDX-License-Identifier: MIT */
/* kymo record: from opening the events to the last byte. */
#include "cmd/record/record.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/file/evlist.h"

enum {
	WATCH_RING,
	WATCH_WALKER,
	WATCH_CONTROL,
	WATCH_TRIGGER,
	TIMER_ENABLE,
	TIMER_DISABLE,
	TIMER_SWITCH,
	TIMER_FLUSH,
	TIMER_END,
};

#define MS 1000000u   /* ns */
#define FLUSH_MS 500u /* rings that fill slowly are emptied so often: little is lost with us */
#define BUSY_MS 4     /* between two looks while much comes */
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

static int record_run_drain(struct recording *r, struct err *e)
{
	int64_t n;

	if (r->a->capture.overwrite)
		return drain_side_band(r, e);
	n = record_out_drain(&r->out, e);
	if (n < 0)
		return (int)n;
	r->busy = n >= BUSY_BYTES;
	if (n && record_out_round(&r->out, e) < 0)
		return -e->code;
	if (r->a->max_size && record_out_size(&r->out) >= r->a->max_size && !r->stopped) {
		r->stopped = true;
		if (!r->a->quiet)
			command_note("stopping: the recording has reached --max-size");
	}
	if (r->a->switch_bytes && record_out_size(&r->out) >= r->a->switch_bytes)
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

	if (r->a->capture.overwrite) {
		if (snapshot(r, e) < 0)
			return -e->code;
	} else {
		record_off_flush(r);
		n = record_out_drain(&r->out, e);
		if (n < 0 || record_out_round(&r->out, e) < 0)
			return -e->code;
	}
	return record_out_next(&r->out, e);
}

/* SIGUSR2: put a flight recorder's content into a file, or go on in the next. */
static int dump(struct recording *r, struct err *e)
{
	return r->a->switch_signal || r->a->capture.overwrite ? next_file(r, e)
							      : record_run_drain(r, e);
}

static void tell_events(const struct recording *r)
{
	const char *how = r->control.argument;
	AUTO_STRBUF b = { 0 };

	for (size_t i = 0; i < r->capture.n; i++) {
		const struct capture_event *ev = &r->capture.event[i];
		bool first = ev->spec->leader == (int)i && ev->spec->members > 1;
		bool group = strcmp(how, "-g") == 0 && (first || ev->spec->leader != (int)i);
		struct evlist_line line;
		struct event_type type;

		if (group)
			strbuf_puts(&b, first ? "{" : ",");
		type = capture_type(ev);
		line = evlist_begin(&b, &type, strcmp(how, "-F") == 0);
		if (strcmp(how, "-v") == 0)
			capture_settings(&r->capture, ev, evlist_setting, &line);
		if (!group)
			strbuf_putc(&b, '\n');
		else if (i + 1 == (size_t)(ev->spec->leader +
					   r->capture.event[ev->spec->leader].spec->members))
			strbuf_puts(&b, "}\n");
	}
	fputs(strbuf_str(&b), stdout);
	fflush(stdout);
}

static int obey(void *ctx, enum control_word word, struct err *e)
{
	struct recording *r = ctx;
	const char *name = r->control.argument;

	switch (word) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (*name && capture_switch(&r->capture, name, word == CONTROL_ENABLE) < 0)
			command_note("--control: there is no event %s", name);
		if (*name)
			return 0;
		return word == CONTROL_ENABLE ? record_enable(r, e) : disable(r);
	case CONTROL_STOP: r->stopped = true; return 0;
	case CONTROL_SNAPSHOT: return dump(r, e);
	case CONTROL_EVLIST: tell_events(r); return 0;
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
	(void)ctx;
	(void)data;
	(void)n;
	(void)e;
	return 0;
}

static int on_fd(struct recording *r, const struct loop_event *ev, struct err *e)
{
	switch (ev->id) {
	case WATCH_CONTROL:
		if (control_obey(&r->control, obey, r, e) < 0)
			return -e->code;
		if (ev->hup)
			loop_unwatch(&r->loop, ev->fd);
		return 0;
	case WATCH_TRIGGER:
		if (ev->hup)
			capture_hung_up(&r->triggers, &r->loop, WATCH_TRIGGER, ev->fd);
		return capture_drain(&r->triggers, ignore_bytes, NULL, e) > 0 ? next_file(r, e) : 0;
	default:
		r->wakeups++;
		/* what was to be recorded has ended: nothing more will come; a command is waited
		 * for
		 */
		if (ev->hup && !capture_hung_up(&r->capture, &r->loop, WATCH_RING, ev->fd))
			r->stopped = r->stopped || !r->target.command;
		return record_run_drain(r, e);
	}
}

static void begin_watching(struct recording *r, char **argv)
{
	const struct record_args *a = r->a;
	size_t n = r->capture.n - r->capture.dummy;
	char whom[64], what[64];

	if (n == 1)
		snprintf(what, sizeof(what), "%s", r->capture.event[0].spec->name);
	else
		snprintf(what, sizeof(what), "%zu events", n);
	watching_whom(&a->target, whom, sizeof(whom));
	watching_begin(&r->watching, &(struct watching_opts){ .what = what,
							      .whom = whom,
							      .command = argv ? argv[0] : NULL,
							      .of_command = r->target.command,
							      .quiet = a->quiet,
							      .limit_ns = a->limit_ns });
	r->out.counting = r->watching.running;
}

/* What came slowly is not much, however long it took. */
static int record_run_flush(struct recording *r, struct err *e)
{
	bool busy = r->busy;
	int code = record_run_drain(r, e);

	watching_at(&r->watching, r->out.counted, r->out.w ? perfdata_write_size(r->out.w) : 0);
	r->busy = r->busy && busy;
	return code;
}

static int record_run_on_event(struct recording *r, const struct loop_event *ev, struct err *e)
{
	if (ev->kind == LOOP_SIGNAL)
		return on_signal(r, ev->id, e);
	if (ev->kind == LOOP_FD)
		return on_fd(r, ev, e);
	switch (ev->id) {
	case TIMER_ENABLE: return record_enable(r, e);
	case TIMER_DISABLE: return disable(r);
	case TIMER_SWITCH: return next_file(r, e);
	case TIMER_END: r->stopped = true; return 0;
	default: return record_run_flush(r, e);
	}
}

static int set_timers(struct recording *r, struct err *e)
{
	const struct record_args *a = r->a;
	int code = loop_timer(&r->loop, TIMER_FLUSH, FLUSH_MS * MS, FLUSH_MS * MS, e);

	for (unsigned i = 0; code >= 0 && i < a->n_spans; i++) {
		code = loop_timer(&r->loop, TIMER_ENABLE, a->span[i].from * MS, 0, e);
		if (code >= 0 && a->span[i].to)
			code = loop_timer(&r->loop, TIMER_DISABLE, a->span[i].to * MS, 0, e);
	}
	if (code >= 0 && a->switch_ns)
		code = loop_timer(&r->loop, TIMER_SWITCH, a->switch_ns, a->switch_ns, e);
	if (code >= 0 && a->limit_ns)
		code = loop_timer(&r->loop, TIMER_END, a->limit_ns, 0, e);
	if (code >= 0 && r->control.fd >= 0)
		code = loop_watch(&r->loop, WATCH_CONTROL, r->control.fd, e);
	if (code >= 0)
		code = capture_watch(&r->capture, &r->loop, WATCH_RING, e);
	if (code >= 0 && r->walked.walker && walker_fd(r->walked.walker) >= 0)
		code = loop_watch(&r->loop, WATCH_WALKER, walker_fd(r->walked.walker), e);
	if (code >= 0 && a->triggers.n) {
		code = capture_watch(&r->triggers, &r->loop, WATCH_TRIGGER, e);
		code = code < 0 ? code : capture_enable(&r->triggers, e);
	}
	return code < 0 ? code : 0;
}

/*
 * The kernel wakes us when a ring is half full. While much comes we look more often: among many
 * who want the CPU, one who needs a little of it every few milliseconds gets it in time, where
 * one who comes with half a ring to copy is made to wait.
 */
static int record_busily(struct recording *r, struct err *e)
{
	while (!r->stopped) {
		struct loop_event ev;
		int code = loop_wait(&r->loop, r->busy ? BUSY_MS : -1, &ev, e);

		if (code >= 0)
			code = code ? record_run_on_event(r, &ev, e) : record_run_drain(r, e);
		if (code < 0)
			return code;
	}
	return 0;
}

/*
 * On a machine where all CPUs are wanted, the writer goes before those it watches, as far as it
 * may: it needs little, and what it comes too late for is lost.
 */
static int record_run_record(struct recording *r, struct err *e)
{
	int usual = getpriority(PRIO_PROCESS, 0), code;

	setpriority(PRIO_PROCESS, 0, usual - WRITER_NICER);
	code = record_busily(r, e);
	setpriority(PRIO_PROCESS, 0, usual);
	return code;
}

/* Stacks are not whole: what most of the others ended for, and what helps. */
#define NEARLY_ALL 95.0
static void tell_broken(const struct walker_stats *s, uint32_t max_stack)
{
	const char *advice[UNWIND_END_MAX] = {
		[UNWIND_DEPTH] = max_stack && max_stack < TRACE_WALK_DEPTH
					 ? "--max-stack N allows for deeper ones"
					 : TRACE_WALK_MOST,
		[UNWIND_NO_TABLE] = "kymo doctor -p PID shows where; build with "
				    "-fasynchronous-unwind-tables or -fno-omit-frame-pointer, run "
				    "Java with -XX:+PreserveFramePointer",
		[UNWIND_PENDING] = "tables are kept: the next recording has them from its start",
		[UNWIND_TRUNCATED] = "--call-graph dwarf,65528 copies more",
		[UNWIND_ABI] = "--call-graph fp has those with frame pointers",
	};
	unsigned most = UNWIND_DEPTH;
	char n[32];

	for (unsigned i = UNWIND_DEPTH; i < UNWIND_END_MAX; i++)
		most = s->end[i] > s->end[most] ? i : most;
	if (s->end[most])
		command_note("%s stacks are not whole: %s%s%s%s",
			     str_thousands(s->end[most], n, sizeof(n)), unwind_end_text(most),
			     advice[most] ? " (" : "", advice[most] ? advice[most] : "",
			     advice[most] ? ")" : "");
}

static void tell_stacks(struct recording *r)
{
	struct walker_stats s;
	char lost[32], used[32], most[32];

	if (!r->walked.walker)
		return;
	walked_stats(&r->walked, &s);
	if (!r->a->quiet && s.samples)
		command_note("stacks %s: %.1f%% reached the bottom",
			     r->walked.copies ? "unwound" : "walked in the kernel",
			     walked_whole(&s));
	if (!r->a->quiet && !r->a->verbose && s.samples && walked_whole(&s) < NEARLY_ALL)
		tell_broken(&s, r->walked.max_stack);
	for (unsigned i = 0; r->a->verbose && i < UNWIND_END_MAX; i++)
		if (s.end[i])
			command_note("  %8llu stacks: %s", (unsigned long long)s.end[i],
				     unwind_end_text(i));
	if (r->a->verbose && s.tables && !r->walked.copies)
		command_note("  tables of %llu files (%llu were kept): %s, %s at most; %s of the "
			     "kernel's memory in all",
			     (unsigned long long)s.tables, (unsigned long long)s.tables_cached,
			     str_bytes(s.table_bytes, used, sizeof(used)),
			     str_bytes(s.table_bytes_max, most, sizeof(most)),
			     str_bytes(s.kernel_bytes, lost, sizeof(lost)));
	if (r->a->verbose && s.wakers)
		command_note("  %8llu stacks of who ended waits, %llu of them whole",
			     (unsigned long long)s.wakers, (unsigned long long)s.wakers_whole);
	if (r->walked.hits.without)
		command_note("%s without a user stack",
			     str_count(r->walked.hits.without, "hit", lost, sizeof(lost)));
	if (s.lost)
		command_note("%s %s were lost: the walker's ring ran full",
			     str_thousands(s.lost, lost, sizeof(lost)),
			     r->walked.hits.on ? "user stacks" : "samples");
}

static int finish_data(struct recording *r, struct err *e)
{
	if (r->a->capture.overwrite)
		return snapshot(r, e);
	if (r->walked.walker && walked_finish(&r->walked, record_out_bytes, &r->out, e) < 0)
		return -e->code;
	if (r->walked.off.walker && record_off_wakers(r, e) < 0)
		return -e->code;
	return record_run_drain(r, e);
}

static void tell_losses(struct recording *r)
{
	uint64_t lost = capture_losses(&r->capture), more = r->capture.ring_size * 4 >> 20;
	size_t rings = 0;
	char n[32], size[32];

	for (size_t i = 0; i < r->capture.n_rings; i++)
		rings += r->capture.ring[i].lost > 0;
	if (!lost || r->a->capture.overwrite)
		return;
	command_note("%s events were lost: %zu of %zu rings (%s each) ran full. Larger ones keep "
		     "them: -m %lluM",
		     str_thousands(lost, n, sizeof(n)), rings, r->capture.n_rings,
		     str_bytes(r->capture.ring_size, size, sizeof(size)),
		     (unsigned long long)(more ? more : 1));
}

/* On kernels that keep from perf what happens while a CPU idles: what was taken by other means. */
static void tell_idle(const struct recording *r)
{
	const struct idle *i = &r->idle;
	uint64_t missed = idle_missed(i);
	char n[32];

	if (i->added && r->a->verbose)
		command_note("%s hits were taken by BPF: this kernel keeps from perf what happens "
			     "while a CPU idles",
			     str_thousands(i->added, n, sizeof(n)));
	if (missed)
		command_note("%s hits were lost: they came faster than they could be taken",
			     str_thousands(missed, n, sizeof(n)));
	if (i->lost.n && i->filtered && !r->a->quiet)
		command_note("this kernel keeps from perf what happens while a CPU idles, and a "
			     "filter holds for perf only: without --filter, or by 'kymo run', it "
			     "is seen");
}

/* An empty recording of a process that waits puzzles who asked why it is slow. With -B nobody
 * counted. */
static void tell_none(struct recording *r)
{
	const struct record_args *a = r->a;

	if (!r->out.samples && !r->out.pipe && !a->no_buildid && !a->capture.no_samples &&
	    !a->delayed && !a->control && !a->switch_signal && !a->switch_bytes && !a->switch_ns &&
	    !capture_losses(&r->capture) && spec_samples_running(&a->events))
		command_note("what was recorded hardly ran in that time: --off-cpu shows where "
			     "threads wait that run now and then, /proc/PID/stack where others do");
}

static void tell_result(struct recording *r)
{
	const struct record_out *o = &r->out;
	char n[64];

	if (r->a->quiet || r->a->no_summary)
		return;
	if (r->a->verbose)
		command_note("woken up %llu times", (unsigned long long)r->wakeups);
	fprintf(stderr, "[ kymo record: Captured and wrote %.3f MB %s", (double)o->bytes / 1048576,
		o->pipe	  ? "to the pipe"
		: o->last ? o->last
			  : o->path);
	if (!o->pipe && !r->a->no_buildid)
		fprintf(stderr, " (%s)", str_count(o->samples, "sample", n, sizeof(n)));
	fputs(" ]\n", stderr);
	tell_none(r);
}

/* A command that still runs when we were told to stop goes too, as with perf. A second signal
 * means that it shall not be waited for. */
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

static int record_run_finish(struct recording *r, bool failed, struct err *e)
{
	bool runs = r->child.pid > 0;
	int code = 0, closed;

	disable(r);
	if (r->walked.walker && !failed)
		walker_settle(r->walked.walker, SETTLE_MS);
	if (!failed)
		code = finish_data(r, e);
	if (runs)
		kill(r->child.pid, SIGTERM);
	tell_losses(r);
	tell_stacks(r);
	tell_idle(r);
	record_off_tell(r);
	closed = record_out_close(&r->out, failed || code < 0, e);
	capture_unwatch(&r->capture, &r->loop);
	end_child(r);
	if (runs && !r->signal)
		r->exit_code = 0; /* it did not choose its end */
	return code < 0 ? code : closed;
}

static int record_run_begin(struct recording *r, char **argv, bool *started, struct err *e)
{
	int code = argv ? workload_check(argv[0], &r->exit_code, e) : 0;

	if (code == 0)
		code = target_make(&r->a->target, &r->target, e);
	if (code == 0 && r->a->control)
		code = control_open(&r->control, r->a->control, e);
	if (code == 0)
		code = record_open(r, argv, e);
	if (code == 0 && !r->a->delayed) {
		walked_switch(&r->walked, true); /* the capture may be, or wait for its exec */
		code = record_enable(r, e);
	}
	if (code == 0)
		code = set_timers(r, e);
	if (code == 0)
		begin_watching(r, argv);
	if (code == 0 && r->child.pid > 0) {
		code = workload_start(&r->child, argv[0], &r->exit_code, e);
		*started = code == 0;
	}
	return code;
}

int record_run(struct record_args *a, char **argv, struct err *e)
{
	struct recording r = { .a = a,
			       .control = { .fd = -1, .ack_fd = -1 },
			       .loop = { .epoll_fd = -1 } };
	bool started = false;
	struct err later = { 0 };
	int code, ended;

	a->target.command = argv != NULL;
	code = record_run_begin(&r, argv, &started, e);
	if (code == 0)
		code = record_run_record(&r, e);
	watching_end(&r.watching);
	if (argv && !a->quiet)
		command_note_killed(argv[0], r.child.signal);
	if (code < 0 && r.child.pid > 0 && !started)
		workload_cancel(&r.child);
	if (r.out.w) { /* whatever went wrong, the file is made whole */
		ended = record_run_finish(&r, code < 0, &later);
		if (code < 0 && argv && !started && r.out.path)
			file_drop(r.out.path); /* nothing ever ran */
		if (code == 0 && ended < 0) {
			code = ended;
			*e = later;
		}
		if (code == 0)
			tell_result(&r);
	}
	if (r.out.a)
		record_out_free(&r.out);
	walked_close(&r.walked);
	capture_close(&r.capture);
	idle_close(&r.idle);
	capture_close(&r.triggers);
	control_close(&r.control);
	target_free(&r.target);
	if (r.loop.epoll_fd >= 0)
		loop_close(&r.loop);
	if (code < 0 && r.exit_code) {
		command_error("record", e);
		return r.exit_code;
	}
	return code < 0 ? code : r.exit_code;
}
