/* SPDX-License-Identifier: MIT */
/* From samples as they come to rows, again and again. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/str.h"
#include "calc/rows/annotate.h"
#include "calc/rows/hist.h"
#include "cmd/command.h"
#include "cmd/report/top.h"
#include "cmd/share/event_opts.h"
#include "live/capture/attr.h"
#include "view/report/annotate.h"
#include "view/report/report.h"

static int top_run_on_sample(void *ctx, const struct event *ev)
{
	struct top *t = ctx;
	bool kernel = ev->mode == EVENT_MODE_KERNEL;

	t->samples++;
	t->kernel += kernel;
	if ((kernel && t->a->hide_kernel) || (!kernel && t->a->hide_user) ||
	    (gate_wanted(&t->a->gate) && !gate_passes(&t->gate, ev)))
		return 0;
	return profile_builder_add(t->counted, ev);
}

/* Commands that run now have names that were not known when it began. */
static enum profile_want top_run_want(void *ctx, const struct event *ev)
{
	const struct top *t = ctx;
	const struct tasks *tasks = t->m.source->trace->tasks;
	char buf[TASK_NAME];
	const char *name = tasks_name_at(tasks, ev->tid, ev->time, buf);

	return strtab_find(&t->pick.comm_names, name) != STRTAB_NONE ? PROFILE_COUNT
								     : PROFILE_ASIDE;
}

static size_t top_run_extra(void *ctx, const struct event *ev, const struct event_branch *branch,
			    uint64_t *buf)
{
	return extra_fill(&((struct top *)ctx)->plan, ev, branch, buf);
}

static unsigned height(void)
{
	struct winsize w;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_row : 0;
}

bool top_shows_children(const struct top_args *a)
{
	return a->chains && a->children && !a->hierarchy;
}

/* The first event's rows, with those of its group beside them. */
static void make_rows(struct top *t, const struct cells *c, const bool *sites, struct hist *ret)
{
	struct hist_opts o = { .children = top_shows_children(t->a),
			       .caller = t->caller,
			       .use_chains = t->a->chains && !t->a->graph.no_graph,
			       .site_wanted = sites };

	hist_make(ret, c, &o, t->leader, (unsigned)t->a->group_sort);
	vec_each (&ret->rows, r)
		r->hidden |= t->a->least > 0 && r->count < (uint64_t)t->a->least;
	if (t->a->entries > 0 && (size_t)t->a->entries < ret->rows.n && !t->a->hierarchy)
		ret->rows.n = (size_t)t->a->entries;
}

/* --sym-annotate: the function's code, once it has samples. */
static void print_code(const struct top *t, const struct names *n)
{
	struct tui_model m = { 0 }; /* the interface's ways are those of text, too */
	struct srctext src = { 0 };
	struct annotate_opts o;
	struct annotate a;
	struct err e = { 0 };
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	uint32_t frame = 0;

	codestyle_apply(&t->a->code, &m);
	m.style.percent_limit = t->a->min_percent;
	src.opts = m.source;
	o = m.annotate;
	o.vmlinux = t->a->vmlinux;
	while (frame < n->frames.n &&
	       (!names_function(n, frame) || strcmp(names_function(n, frame), t->a->symbol) != 0))
		frame++;
	if (!f)
		return;
	if (frame == n->frames.n) {
		fprintf(f, "   no samples in a function called %s yet\n", t->a->symbol);
	} else if (annotate_make(n, frame, &o, &a, &e) < 0) {
		fprintf(f, "   %s: %s\n%s%s%s", t->a->symbol, e.msg, e.hint[0] ? "   " : "", e.hint,
			e.hint[0] ? "\n" : "");
	} else {
		annotate_print(f, &m.style, &a, &src);
		annotate_free(&a);
	}
	fclose(f);
	srctext_free(&src);
	top_print_part(stdout, text, height());
}

static int top_run_show(struct top *t, struct err *e)
{
	const struct top_args *a = t->a;
	double seconds = (double)(loop_now() - t->since) / 1e9;
	struct top_state s = {
		.event = t->event,
		.whom = t->whom,
		.rate = seconds > 0 ? (double)t->samples / seconds : 0,
		.kernel = profile_percent(t->kernel, t->samples),
		.lost = t->m.source->trace->losses.lost_events,
		.relative = a->percentage && strcmp(a->percentage, "relative") == 0,
		.tree = a->hierarchy,
		.graph = a->chains && !a->graph.no_graph ? &a->graph.opts : NULL,
	};
	struct top_snapshot *now = NULL;
	struct cells c;
	struct hist h;
	int r = top_snapshot_take(t, &now, e);

	if (r < 0)
		return r;
	s.idle = now->idle.all > 0 ? 100.0 * now->idle.weight / now->idle.all : 0;
	cells_make(&c, &now->names,
		   &(struct cells_opts){
			   .columns = &t->columns, .plan = &t->plan, .caller = t->caller });
	make_rows(t, &c, now->sites, &h);
	if (isatty(STDOUT_FILENO))
		guard_tell(stdout, "\033[H\033[2J");
	if (a->symbol) {
		top_print_heading(stdout, &s);
		print_code(t, &now->names);
	} else {
		top_print(stdout, &s, &h, height(), a->min_percent);
	}
	fflush(stdout);
	hist_free(&h);
	cells_free(&c);
	top_snapshot_put(now);
	top_era_turn(t);
	t->samples = t->kernel = 0;
	t->since = loop_now();
	return ferror(stdout) ? err_set(e, EPIPE, "cannot write the output") : 0;
}

int top_poll(struct top *t, struct err *e)
{
	return t->m.source->poll(t->m.source, true, top_run_on_sample, t, e);
}

#define TIME_QUANTUM 100000000u /* ns, of --sort time */

enum { TIMER_POLL, TIMER_SHOW, WATCH_RING };

static int watch(struct top *t, struct err *e)
{
	const uint64_t ms = 1000000;
	int shown = 0, r;

	r = loop_timer(&t->loop, TIMER_POLL, 100 * ms, 100 * ms, e);
	if (r >= 0)
		r = loop_timer(&t->loop, TIMER_SHOW, (uint64_t)t->a->delay_s * 1000 * ms,
			       (uint64_t)t->a->delay_s * 1000 * ms, e);
	if (r >= 0)
		r = capture_watch(&t->m.capture, &t->loop, WATCH_RING, e);
	if (r >= 0 && t->m.walked.walker && walker_fd(t->m.walked.walker) >= 0)
		r = loop_watch(&t->loop, WATCH_RING, walker_fd(t->m.walked.walker), e);
	while (r >= 0) {
		struct loop_event ev;

		r = loop_wait(&t->loop, -1, &ev, e);
		if (r < 0)
			break;
		if (ev.kind == LOOP_SIGNAL && ev.id != SIGCHLD)
			return 0;
		r = top_poll(t, e);
		if (r >= 0 && ev.kind == LOOP_TIMER && ev.id == TIMER_SHOW) {
			r = top_run_show(t, e);
			if (t->a->iterations && ++shown >= t->a->iterations)
				return r;
		}
	}
	return r;
}

/* Keys that live samples have; report knows more. */
static bool is_live(const struct key_info *k)
{
	return k->kind == KEY_SUM || k->kind == KEY_OF_SITE || k->live;
}

int top_columns(const struct top *t, const char *sort, struct columns *ret, struct err *e)
{
	struct columns_opts o = t->a->columns;
	int r;

	o.sort = sort;
	o.children = top_shows_children(t->a);
	o.trace = t->m.source->trace;
	r = columns_make(ret, &o, e);

	for (unsigned i = 0; r == 0 && i < ret->n; i++) {
		struct column *c = &ret->col[i];

		if (!is_live(&key_infos[c->key])) {
			err_set(e, EINVAL, "top cannot sort by '%s'", key_infos[c->key].name);
			r = err_hint(e, "comm, pid, tgid, dso, symbol, cpu, addr, time, srcline, "
					"trace, fields of tracepoints");
		}
		c->hidden = c->key == KEY_IPC;
	}
	return r;
}

static void on_fallback(void *ctx, const char *wanted, const char *taken, const char *why)
{
	(void)why; /* the heading names the event that is counted */
}

/* As it is sampled: so often a second, or so many of them at a time. */
static void name_event(struct top *t)
{
	const struct event_type *type = &t->m.source->trace->types[0];
	const char *name = type->name;
	unsigned long long n = type->rate;

	if (type->by_rate)
		snprintf(t->event, sizeof(t->event), "%llu Hz %s", n, name);
	else if (n == 1)
		snprintf(t->event, sizeof(t->event), "each %s", name);
	else
		snprintf(t->event, sizeof(t->event), "every %llu %s", n, name);
}

/* Whose samples they are, as the options named them. */
static void name_whom(struct top *t)
{
	const struct target_opts *o = &t->a->target;

	if (o->pids || o->tids)
		snprintf(t->whom, sizeof(t->whom), "%s %s", o->pids ? "pid" : "tid",
			 o->pids ? o->pids : o->tids);
	else if (o->user)
		snprintf(t->whom, sizeof(t->whom), "user %s", o->user);
	else if (o->cpus)
		snprintf(t->whom, sizeof(t->whom), "all, CPU %s", o->cpus);
	else
		snprintf(t->whom, sizeof(t->whom), "all, %zu CPUs", t->target.cpus.n);
}

/* Which samples are wanted, and what of them. */
static int top_run_choose(struct top *t, struct err *e)
{
	const struct top_args *a = t->a;
	struct sched_param p = { .sched_priority = a->realtime };
	int r = pick_make(&t->pick, &a->pick, t->m.source->trace, e);

	if (r == 0) {
		t->picking = true;
		extra_plan(&t->plan, &t->columns, t->m.source->trace);
		if (gate_wanted(&a->gate))
			r = gate_make(&t->gate, &a->gate, t->m.source->trace, e);
	}
	if (r == 0 && a->ignore_callees) {
		t->has_callees =
			regcomp(&t->callees, a->ignore_callees, REG_EXTENDED | REG_NOSUB) == 0;
		if (!t->has_callees)
			r = err_set(e, EINVAL, "--ignore-callees %s is no regular expression",
				    a->ignore_callees);
	}
	if (r == 0 && a->realtime && sched_setscheduler(0, SCHED_FIFO, &p) < 0)
		command_note("-r %d: %s", a->realtime, strerror(errno));
	return r;
}

/* --group and -G, before anything is opened. */
static int prepare_events(struct top_args *a, struct err *e)
{
	const struct target_opts *t = &a->target;

	for (size_t i = 0; a->group && i < a->events.n; i++) {
		a->events.spec[i].leader = 0;
		a->events.spec[i].members = i ? 1 : (int)a->events.n;
	}
	if (a->cgroups && (t->pids || t->tids || t->user)) {
		err_set(e, EINVAL, "-G: a cgroup is watched on CPUs, not with -p, -t or -u");
		return err_hint(e, "leave them out");
	}
	if (a->cgroups)
		a->capture.cgroups = cgroups_by_event(&a->events, a->cgroups);
	return 0;
}

/* Whose rows an event is shown in. */
static void find_leaders(struct top *t)
{
	const struct trace *trace = t->m.source->trace;

	t->leader = mem_alloc((trace->n_types + 1) * sizeof(*t->leader));
	for (uint32_t i = 0; i < trace->n_types; i++)
		t->leader[i] =
			i < t->m.capture.n ? (uint32_t)t->m.capture.event[i].spec->leader : i;
}

static int top_run_start(struct top *t, struct err *e)
{
	struct top_args *a = t->a;
	int r;

	if (!a->events.n && spec_parse(&a->events, "cycles:P", events_env(), e) < 0)
		return -e->code;
	if (prepare_events(a, e) < 0)
		return -e->code;
	t->caller = a->graph.order_given ? a->graph.caller : a->children;
	if (!a->target.pids && !a->target.tids && !a->target.cpus && !a->target.user)
		a->target.all_cpus = true;
	r = target_make(&a->target, &t->target, e);
	if (r == 0 && !t->tui) /* it takes the signals, which the terminal interface needs */
		r = loop_open(&t->loop, e);
	if (r < 0)
		return r;
	if (a->freq > 0)
		a->capture.freq = (uint64_t)a->freq;
	else /* also with -c: it takes the place of a period that means nothing to a clock */
		a->capture.freq = capture_max_freq() < 4000 ? capture_max_freq() : 4000;
	if (!a->chains)
		a->capture.chain = CAPTURE_NO_CHAIN;
	else if (a->capture.chain == CAPTURE_NO_CHAIN)
		a->capture.chain = CAPTURE_AUTO;
	a->capture.inherit = !a->no_inherit;
	a->capture.time = true;
	a->capture.period_field = 1; /* a clock stays the frequency that name_event() tells */
	a->capture.fallback = on_fallback;
	r = monitor_open(&t->m, &a->events, &t->target, &a->capture, e);
	if (r == 0)
		find_leaders(t);
	if (r == 0)
		r = top_columns(t,
				a->columns.sort || a->columns.fields ? a->columns.sort : "dso,sym",
				&t->columns, e);
	if (r == 0)
		r = top_run_choose(t, e);
	if (r < 0)
		return r;
	/* on a terminal one can ask for threads and commands later */
	t->by = cells_needs(&t->columns) | (a->chains ? PROFILE_BY_CHAIN : 0) |
		(top_leaves_idle_out(a) || t->pick.by_dso || t->pick.by_symbol ? PROFILE_BY_CODE
									       : 0) |
		(t->tui ? PROFILE_BY_COMM | PROFILE_BY_PID | PROFILE_BY_TID : 0);
	t->counted = profile_builder_new(
		t->m.source->trace,
		&(struct profile_opts){ .by = t->by,
					.max_stack = a->max_stack > 0 ? (unsigned)a->max_stack : 0,
					.time_quantum = TIME_QUANTUM,
					.want = t->pick.by_comm ? top_run_want : NULL,
					.extra = t->plan.any ? top_run_extra : NULL,
					.ctx = t });
	r = top_era_first(t, e);
	if (r < 0)
		return r;
	name_event(t);
	name_whom(t);
	t->since = loop_now();
	return capture_enable(&t->m.capture, e);
}

int top_run(struct top_args *a, struct err *e)
{
	struct top t = { .a = a };
	int r;

	t.tui = !a->stdio && !a->iterations && !a->symbol && tui_usable(NULL) == 0;
	r = top_run_start(&t, e);
	if (r == 0)
		r = t.tui ? top_tui_run(&t, e) : watch(&t, e);
	free(t.leader);
	profile_builder_free(t.counted);
	top_era_put(t.era);
	extra_plan_free(&t.plan);
	if (t.picking)
		pick_free(&t.pick);
	if (t.has_callees)
		regfree(&t.callees);
	monitor_close(&t.m);
	target_free(&t.target);
	return r;
}
