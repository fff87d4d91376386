/* SPDX-License-Identifier: MIT */
/* kymo stat: the measuring itself; one run is open, start, wait, read. */
#include "cmd/stat/stat.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "kern/why.h"
#include "live/capture/counters.h"
#include "live/control.h"
#include "live/loop.h"
#include "live/workload.h"

enum { TIMER_INTERVAL, TIMER_TIMEOUT, TIMER_DELAY, TIMER_ALIVE, WATCH_CONTROL };

struct run {
	struct stat_plan *p;
	struct stat_args *a;
	struct loop loop;
	struct control control;
	struct counters *counters;
	struct stat_file *file; /* of stat record */
	struct workload child;
	struct map names; /* tid -> index into name_text */
	struct strtab name_text;
	VEC(struct stat_table) tables; /* of finished runs */
	struct rusage before;
	double user_s, sys_s;
	bool usage_known;
	uint64_t start_ns, last_ns; /* of this run, of this interval */
	unsigned intervals, lines;
	int exit_code;
	bool stopped, narrowed, enabled;
	int signal; /* that ended it; 0 when none */
};

static const char *thread_name(void *ctx, pid_t tid)
{
	struct run *r = ctx;
	uint64_t *id = map_find(&r->names, (uint64_t)tid);

	return id ? strtab_get(&r->name_text, (uint32_t)*id) : "";
}

/* Names are taken before measuring, since threads end. */
static void collect_names(struct run *r)
{
	const struct thread_list *l = &r->p->target.threads;
	char name[64];

	for (size_t i = 0; r->p->by == STAT_THREAD && i < l->n; i++)
		if (proc_comm(l->tid[i], name, sizeof(name)))
			*map_at(&r->names, (uint64_t)l->tid[i]) = strtab_add(&r->name_text, name);
}

static void on_narrowed(void *ctx, const struct event_spec *s)
{
	struct run *r = ctx;

	r->narrowed = true;
}

/* duration_time, user_time and system_time are kymo's own to count. */
static void fill_tool_events(struct run *r, double wall_ns)
{
	struct count_set *set = counters_set(r->counters);

	for (size_t i = 0; i < set->n; i++) {
		struct count_event *ev = &set->event[i];
		double ns = wall_ns;

		if (ev->kind != SPEC_TOOL || !ev->n_places)
			continue;
		if (ev->tool == SPEC_TOOL_USER)
			ns = r->user_s * 1e9;
		else if (ev->tool == SPEC_TOOL_SYSTEM)
			ns = r->sys_s * 1e9;
		memset(ev->count, 0, ev->n_places * sizeof(*ev->count));
		if (ev->tool != SPEC_TOOL_DURATION && !r->usage_known)
			continue; /* only when the command has ended */
		ev->count[0] = (struct count){ ns > 0 ? (uint64_t)ns : 0, (uint64_t)wall_ns,
					       (uint64_t)wall_ns };
	}
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void note_usage(struct run *r)
{
	struct rusage now;

	getrusage(RUSAGE_CHILDREN, &now);
	r->user_s = seconds(now.ru_utime) - seconds(r->before.ru_utime);
	r->sys_s = seconds(now.ru_stime) - seconds(r->before.ru_stime);
	r->usage_known = true;
}

static void summarise(struct run *r, double wall_ns, struct stat_table *ret)
{
	struct stat_opts o = {
		.by = r->p->by,
		.no_scale = r->a->no_scale,
		.no_merge = r->a->no_merge,
		.hide_idle = r->a->target.all_cpus,
		.wall_ns = wall_ns,
		.thread_name = thread_name,
		.thread_ctx = r,
	};

	fill_tool_events(r, wall_ns);
	stat_summarise(counters_set(r->counters), &o, ret);
}

static int flush_output(struct run *r, struct err *e)
{
	return stat_out_flush(r->p->out, r->a->record ? NULL : r->a->output, e);
}

/* stat record: all counts since the start. */
static int keep_counts(struct run *r, double wall_ns, bool final, struct err *e)
{
	int code = 0;

	if (!r->file)
		return 0;
	counters_totals(r->counters);
	fill_tool_events(r, wall_ns);
	if (final && r->p->argv && !r->p->target.system_wide)
		code = stat_file_usage(r->file, r->user_s, r->sys_s, e);
	return code < 0 ? code : stat_file_round(r->file, (uint64_t)wall_ns, final, e);
}

/* Of the default set stalled cycles, which many CPUs do not count, are shown where they are. */
static void drop_unsupported(struct stat_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].state != STAT_NOT_SUPPORTED ||
		    !str_starts(t->row[i].event->name, "stalled-cycles-"))
			t->row[n++] = t->row[i];
	t->n = n;
}

/* Hundreds of events of which a few happened are for programs, or for who asks for --all. */
static size_t tidy(const struct run *r, struct stat_table *t)
{
	return r->p->style.form == STAT_TEXT && r->p->by == STAT_GLOBAL && !r->a->all_rows &&
			       isatty(guard_fileno(r->p->out))
		       ? stat_busiest(t)
		       : 0;
}

static int print_interval(struct run *r, struct err *e)
{
	struct stat_table t;
	uint64_t now = loop_now();

	if (counters_read(r->counters, e) < 0)
		return -e->code;
	summarise(r, (double)(now - r->last_ns), &t);
	if (r->a->default_events)
		drop_unsupported(&t);
	tidy(r, &t);
	stat_out_interval(r->p->out, &r->p->style, r->a->interval_clear, &t,
			  (double)(now - r->start_ns), &r->lines);
	r->last_ns = now;
	r->intervals++;
	stat_table_free(&t);
	if (keep_counts(r, (double)(now - r->start_ns), false, e) < 0)
		return -e->code;
	return flush_output(r, e);
}

static int enable(struct run *r, struct err *e)
{
	if (r->enabled)
		return 0;
	r->enabled = true;
	return counters_enable(r->counters, e);
}

static int disable(struct run *r)
{
	r->enabled = false;
	return counters_disable(r->counters);
}

static void tell_events(struct run *r)
{
	const struct count_set *set = counters_set(r->counters);

	for (size_t i = 0; i < set->n; i++)
		printf("%s\n", set->event[i].name);
	fflush(stdout);
}

static int obey(void *ctx, enum control_word word, struct err *e)
{
	struct run *r = ctx;
	const char *name = r->control.argument;
	bool on = word == CONTROL_ENABLE;

	switch (word) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (*name && counters_switch(r->counters, name, on) < 0)
			command_note("--control: there is no event %s", name);
		if (*name)
			return 0;
		return on ? enable(r, e) : disable(r);
	case CONTROL_STOP: r->stopped = true; return 0;
	case CONTROL_EVLIST: tell_events(r); return 0;
	default: return 0;
	}
}

static int on_timer(struct run *r, int id, struct err *e)
{
	switch (id) {
	case TIMER_INTERVAL:
		if (print_interval(r, e) < 0)
			return -e->code;
		if (r->a->interval_count && r->intervals >= (unsigned)r->a->interval_count)
			r->stopped = true;
		return 0;
	case TIMER_TIMEOUT: r->stopped = true; return 0;
	case TIMER_DELAY:
		if (!r->a->quiet)
			command_note("counting starts after %d ms", r->a->delay_ms);
		r->start_ns = r->last_ns = loop_now();
		return enable(r, e);
	case TIMER_ALIVE:
		if (!target_alive(&r->p->target))
			r->stopped = true;
		return 0;
	default: return 0;
	}
}

static int set_timers(struct run *r, struct err *e)
{
	const uint64_t ms = 1000000;
	const struct stat_args *a = r->a;
	bool tasks = a->target.pids || a->target.tids;
	int code = 0;

	if (a->interval_ms)
		code = loop_timer(&r->loop, TIMER_INTERVAL, (uint64_t)a->interval_ms * ms,
				  (uint64_t)a->interval_ms * ms, e);
	if (code >= 0 && a->timeout_ms)
		code = loop_timer(&r->loop, TIMER_TIMEOUT, (uint64_t)a->timeout_ms * ms, 0, e);
	if (code >= 0 && a->delay_ms > 0)
		code = loop_timer(&r->loop, TIMER_DELAY, (uint64_t)a->delay_ms * ms, 0, e);
	if (code >= 0 && tasks && !r->p->argv)
		code = loop_timer(&r->loop, TIMER_ALIVE, 100 * ms, 100 * ms, e);
	if (code >= 0 && r->control.fd >= 0)
		code = loop_watch(&r->loop, WATCH_CONTROL, r->control.fd, e);
	return code < 0 ? code : 0;
}

/* Until the command ends, or a signal, the time limit or a control word says so. */
static int stat_run_wait_for_end(struct run *r, struct err *e)
{
	while (!r->stopped) {
		struct loop_event ev;
		int code = loop_wait(&r->loop, -1, &ev, e);

		if (code < 0)
			return code;
		if (ev.kind == LOOP_SIGNAL && ev.id == SIGCHLD) {
			if (workload_ended(&r->child, &r->exit_code)) {
				if (!r->a->quiet)
					command_note_killed(r->p->argv[0], r->child.signal);
				return 0;
			}
		} else if (ev.kind == LOOP_SIGNAL && ev.id != SIGUSR1 && ev.id != SIGUSR2) {
			r->signal = ev.id;
			r->stopped = true;
		} else if (ev.kind == LOOP_TIMER) {
			code = on_timer(r, ev.id, e);
		} else if (ev.kind == LOOP_FD) {
			code = control_obey(&r->control, obey, r, e);
			if (ev.hup)
				loop_unwatch(&r->loop, ev.fd);
		}
		if (code < 0)
			return code;
	}
	return 0;
}

/* A command that still runs when we were told to stop goes too, as with perf. */
static void end_child(struct run *r)
{
	int status;

	if (r->child.pid <= 0)
		return;
	kill(r->child.pid, SIGTERM);
	if (waitpid(r->child.pid, &status, 0) == r->child.pid && r->signal)
		r->exit_code = workload_exit_code(status);
	r->child.pid = 0;
}

static int open_counters(struct run *r, struct err *e)
{
	struct counters_opts o = {
		.inherit = !r->a->no_inherit,
		.on_exec = r->p->target.command && !r->a->delay_ms,
		.narrowed = on_narrowed,
		.ctx = r,
	};

	if (r->p->target.command)
		r->p->target.threads.tid[0] = r->child.pid;
	r->enabled = o.on_exec;
	return counters_open(&r->a->events, r->p->cgroups, &r->p->target, &o, &r->counters, e);
}

static int shell(const char *command, struct err *e)
{
	int code = command ? system(command)
			   : 0; // NOLINT(cert-env33-c): it is what --pre and --post are for

	if (code)
		return err_set(e, ECANCELED, "'%s' failed (exit code %d)", command,
			       workload_exit_code(code));
	return 0;
}

static int stat_run_start(struct run *r, struct err *e)
{
	int code = 0;

	if (!r->a->delay_ms)
		code = enable(r, e);
	r->start_ns = r->last_ns = loop_now();
	if (code == 0 && r->child.pid > 0)
		code = workload_start(&r->child, r->p->argv[0], &r->exit_code, e);
	if (code == 0)
		r->start_ns = r->last_ns = r->child.pid > 0 ? r->start_ns : loop_now();
	return code;
}

/* -v: each event's count, time switched on and time counted, as they were read. */
static void show_raw(struct run *r)
{
	const struct count_set *set = counters_set(r->counters);

	for (size_t i = 0; r->a->verbose && i < set->n; i++) {
		struct count sum = { 0 };

		for (size_t k = 0; k < set->event[i].n_places; k++) {
			sum.value += set->event[i].count[k].value;
			sum.enabled += set->event[i].count[k].enabled;
			sum.running += set->event[i].count[k].running;
		}
		fprintf(r->p->out, "%s: %llu %llu %llu\n", set->event[i].name,
			(unsigned long long)sum.value, (unsigned long long)sum.enabled,
			(unsigned long long)sum.running);
	}
}

static int one_run(struct run *r, struct err *e)
{
	int code = shell(r->a->pre, e);

	if (code < 0)
		return code;
	if (r->a->sync)
		sync();
	r->intervals = r->lines = 0;
	r->usage_known = false;
	code = loop_open(&r->loop, e);
	if (code == 0 && r->p->argv)
		code = workload_prepare(&r->child, r->p->argv, e);
	if (code < 0)
		return code;
	code = open_counters(r, e);
	if (code == 0 && r->a->record)
		code = stat_file_open(r->p, counters_set(r->counters), thread_name, r, &r->file, e);
	if (code < 0) {
		workload_cancel(&r->child);
		return code;
	}
	getrusage(RUSAGE_CHILDREN, &r->before);
	code = stat_run_start(r, e);
	if (code == 0)
		code = set_timers(r, e);
	if (code == 0)
		code = stat_run_wait_for_end(r, e);
	if (code == 0) {
		struct stat_table t;
		double wall = (double)(loop_now() - r->start_ns);

		note_usage(r);
		if (r->a->interval_ms && r->intervals != (unsigned)r->a->interval_count)
			code = print_interval(r, e);
		else
			code = counters_read(r->counters, e);
		if (code == 0) {
			counters_totals(r->counters);
			end_child(r);
			summarise(r, wall, &t);
			vec_push(&r->tables, t);
			show_raw(r);
			if (!r->a->interval_ms)
				code = keep_counts(r, wall, true, e);
		}
	}
	end_child(r);
	loop_close(&r->loop);
	return code < 0 ? code : shell(r->a->post, e);
}

/* Events that cannot be counted here, with the reason of the first, in one line. */
static void explain_missing(struct run *r)
{
	struct count_set *set = counters_set(r->counters);
	AUTO_STRBUF names = { 0 };
	struct err why = { 0 };
	const char *reason;

	for (size_t i = 0; i < set->n; i++) {
		if (set->event[i].supported)
			continue;
		if (!names.n)
			why_open_failed(&r->a->events.spec[i], counters_refusal(r->counters, i), -1,
					-1, &why);
		strbuf_printf(&names, "%s%s", names.n ? ", " : "", set->event[i].name);
	}
	if (!names.n || r->a->quiet)
		return;
	/* "cycles: no PMU in this VM": the names stand behind it */
	reason = strstr(why.msg, ": ");
	reason = reason ? reason + 2 : why.msg;
	if (r->a->default_events)
		command_note("%s: %s", reason, strbuf_str(&names));
	else
		command_note("%s%s%s%s", why.msg, why.hint[0] ? " (" : "", why.hint,
			     why.hint[0] ? ")" : "");
}

static void print_result(struct run *r)
{
	struct stat_plan *p = r->p;
	struct stat_subject about = {
		.what = p->what,
		.user_s = p->argv && r->tables.n == 1 && !p->target.system_wide ? r->user_s : -1,
		.sys_s = r->sys_s,
		.null_run = r->a->null_run,
	};
	struct stat_table mean = { 0 }, *t = &r->tables.data[0];
	size_t left_out;

	if (r->tables.n > 1) {
		stat_average(r->tables.data, r->tables.n, &mean);
		t = &mean;
	}
	if (r->a->default_events)
		drop_unsupported(t);
	left_out = tidy(r, t);
	stat_print_head(p->out, &p->style, &about, (unsigned)r->tables.n);
	if (r->a->interval_ms)
		stat_print_summary_rows(p->out, &p->style, t);
	else
		stat_print_rows(p->out, &p->style, t, -1);
	stat_print_end(p->out, &p->style, &about, t);
	if (left_out && !r->a->quiet) {
		fflush(p->out);
		command_note("%zu events that did not happen are not shown (--all shows them)",
			     left_out);
	}
	stat_table_free(&mean);
}

int stat_run(struct stat_plan *p, struct err *e)
{
	struct run r = { .p = p, .a = p->args, .control = { .fd = -1, .ack_fd = -1 } };
	int code = 0, closed;

	collect_names(&r);
	if (r.a->control)
		code = control_open(&r.control, r.a->control, e);
	for (int i = 0; code == 0 && !r.signal && (r.a->forever || i < r.a->repeat); i++) {
		if (r.counters)
			counters_close(r.counters);
		r.counters = NULL;
		r.stopped = false;
		code = one_run(&r, e);
	}
	if (code == 0 && r.tables.n) {
		if (!r.a->interval_ms || r.a->summary)
			print_result(&r);
		code = flush_output(&r, e);
		if (r.narrowed && !r.a->quiet)
			command_note("kernel work is not counted: you may not see it (sudo sysctl "
				     "kernel.perf_event_paranoid=1 allows it)");
		explain_missing(&r);
	}
	closed = stat_file_close(r.file, code < 0, code < 0 ? NULL : e);
	code = code < 0 ? code : closed;
	if (code == 0 && r.a->record && !r.a->output && !r.a->quiet)
		command_note("the counts are in perf.data; kymo stat report shows them");
	counters_close(r.counters);
	control_close(&r.control);
	for (size_t i = 0; i < r.tables.n; i++)
		stat_table_free(&r.tables.data[i]);
	vec_free(&r.tables);
	map_free(&r.names);
	strtab_free(&r.name_text);
	if (code < 0 && r.exit_code) { /* the command could not be run: the shell's code for it */
		command_error("stat", e);
		return r.exit_code;
	}
	return code < 0 ? code : r.exit_code;
}
