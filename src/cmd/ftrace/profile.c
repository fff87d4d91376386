/* SPDX-License-Identifier: MIT */
/* kymo ftrace profile, and the tables of report --profile and hist. */
#define OPT_ARGS struct profile_args
#include "cmd/ftrace/profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "base/str.h"
#include "calc/time/task_spans.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "cmd/share/input.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/names.h"

#define MAX_STACKS 20 /* of one row; the rest is counted */

static const char *ftrace_profile_name_of(void *ctx, uint64_t addr, uint64_t *start)
{
	const struct ftrace_name *n = ftrace_names_find(ctx, addr);

	if (n)
		*start = n->addr;
	return n ? n->name : NULL;
}

static struct ftrace_names *names_of(const struct source *s)
{
	const struct trace_info *info = &s->trace->info;

	return ftrace_names_new(info->kallsyms, info->kallsyms ? info->kallsyms_size : 0);
}

static void ftrace_profile_put_frame(struct ftrace_names *names, uint64_t addr, struct out *o)
{
	uint64_t start;
	const char *name = ftrace_profile_name_of(names, addr, &start);

	if (name)
		out_printf(o, "            %s\n", name);
	else
		out_printf(o, "            0x%" PRIx64 "\n", addr);
}

static void put_stacks(const struct task_span *r, struct ftrace_names *names, struct out *o)
{
	size_t shown = 0;

	vec_each (&r->stacks, x) {
		if (shown++ == MAX_STACKS) {
			out_printf(o, "        ... %zu more\n", r->stacks.n - MAX_STACKS);
			break;
		}
		out_printf(o, "        %.2f%% (%" PRIu64 ")", 100.0 * (double)x->n / (double)r->n,
			   x->n);
		if (r->timed)
			out_printf(o, " time:%" PRIu64, x->sum);
		out_putc(o, '\n');
		for (uint32_t i = 0; i < x->chain_n; i++)
			if (x->chain[i] < EVENT_CHAIN_MARK)
				ftrace_profile_put_frame(names, x->chain[i], o);
	}
}

static void put_time(uint64_t t, struct out *o)
{
	out_printf(o, "(ts:%" PRIu64 ".%06" PRIu64 ")", t / 1000000000, t / 1000 % 1000000);
}

static void ftrace_profile_put_row(const struct task_span *r, struct ftrace_names *names,
				   struct out *o)
{
	out_printf(o, "  Event: %s (%" PRIu64 ")", r->what, r->n);
	if (r->timed) {
		out_printf(o, " Total: %" PRIu64 " Avg: %" PRIu64 " Max: %" PRIu64, r->sum,
			   r->sum / r->n, r->max);
		put_time(r->max_at, o);
		out_printf(o, " Min: %" PRIu64, r->min);
		put_time(r->min_at, o);
	}
	out_putc(o, '\n');
	put_stacks(r, names, o);
}

/* --- a line for each task --- */

struct line {
	const struct task_span *first;
	uint64_t on, turns, waits, waited, longest;
};

static int by_time_on(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->on > y->on ? -1 : x->on < y->on;
}

static void put_summary(const struct task_span *rows, size_t n, bool by_comm, struct out *o)
{
	VEC(struct line) lines = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct task_span *r = &rows[i];
		struct line *l;

		if (r->tid <= 0 || !r->timed)
			continue;
		if (!lines.n || lines.data[lines.n - 1].first->tid != r->tid)
			vec_push(&lines, (struct line){ .first = r });
		l = &lines.data[lines.n - 1];
		if (strcmp(r->what, "on CPU") == 0) {
			l->on = r->sum;
			l->turns = r->n;
		} else if (strncmp(r->what, "sched_wakeup", 12) == 0) {
			l->waits += r->n;
			l->waited += r->sum;
			l->longest = r->max > l->longest ? r->max : l->longest;
		}
	}
	if (lines.n)
		qsort(lines.data, lines.n, sizeof(*lines.data), by_time_on);
	out_printf(o, "%-16s %8s %12s %8s %8s %11s %11s\n", "TASK", by_comm ? "" : "TID",
		   "ON CPU ms", "TURNS", "WAKEUPS", "WAITED us", "LONGEST us");
	vec_each (&lines, l) {
		char tid[16] = "";

		if (!by_comm)
			snprintf(tid, sizeof(tid), "%d", l->first->tid);
		out_printf(o, "%-16s %8s %12.3f %8" PRIu64 " %8" PRIu64 " %11.1f %11.1f\n",
			   l->first->comm, tid, (double)l->on / 1e6, l->turns, l->waits,
			   l->waits ? (double)l->waited / 1e3 / (double)l->waits : 0.0,
			   (double)l->longest / 1e3);
	}
	vec_free(&lines);
}

/* Of others only the moments are known at which they met these. */
static size_t pick_tasks(const struct task_span *rows, size_t n,
			 const struct ftrace_profile_opts *o, struct task_span *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		vec_each (&o->only, tid)
			if (rows[i].tid == *tid || rows[i].tid == TASK_SPANS_NOBODY) {
				ret[kept++] = rows[i];
				break;
			}
	return kept;
}

static int read_spans(struct source *s, const struct task_spans_opts *o, struct task_spans **ret,
		      struct err *e)
{
	int r = task_spans_new(s->trace, o, ret, e);

	return r < 0 ? r : s->read_ordered(s, false, task_spans_add, *ret, e);
}

/* Those of the command line, and those that record noted in the file. */
static size_t all_hooks(const struct ftrace_profile_opts *o, const struct tracedat *t,
			const char **ret)
{
	size_t n = 0;

	vec_each (&o->hooks, h)
		ret[n++] = *h;
	for (size_t i = 0; i < t->n_hooks; i++) {
		bool given = false;

		for (size_t k = 0; k < n && !given; k++)
			given = strcmp(ret[k], t->hooks[i]) == 0;
		if (!given)
			ret[n++] = t->hooks[i];
	}
	return n;
}

int ftrace_profile_print(struct source *s, const struct ftrace_profile_opts *o, bool summary,
			 struct out *out, struct err *e)
{
	const struct tracedat *t = tracedat_of(s);
	struct ftrace_names *names = names_of(s);
	AUTO_FREE const char **hooks = mem_alloc((o->hooks.n + t->n_hooks + 1) * sizeof(*hooks));
	struct task_spans_opts so = { .hooks = hooks,
				      .n_hooks = all_hooks(o, t, hooks),
				      .by_comm = o->by_comm,
				      .global_irqs = o->global_irqs,
				      .name = ftrace_profile_name_of,
				      .ctx = names };
	struct task_spans *spans = NULL;
	int r = read_spans(s, &so, &spans, e);

	if (r >= 0) {
		size_t n;
		const struct task_span *rows = task_spans_rows(spans, &n);
		AUTO_FREE struct task_span *some =
			o->only.n ? mem_alloc((n + 1) * sizeof(*some)) : NULL;

		if (some) {
			n = pick_tasks(rows, n, o, some);
			rows = some;
		}
		if (summary)
			put_summary(rows, n, o->by_comm, out);
		for (size_t i = 0; i < n; i++) {
			if (!i || rows[i].tid != rows[i - 1].tid) {
				if (rows[i].tid == TASK_SPANS_NOBODY)
					out_puts(out, "\nglobal:\n");
				else if (o->by_comm && rows[i].tid)
					out_printf(out, "\ntask: %s\n", rows[i].comm);
				else
					out_printf(out, "\ntask: %s-%d\n", rows[i].comm,
						   rows[i].tid);
			}
			ftrace_profile_put_row(&rows[i], names, out);
		}
	}
	task_spans_free(spans);
	ftrace_names_free(names);
	return r < 0 ? r : 0;
}

static int ftrace_profile_by_count(const void *a, const void *b)
{
	const struct task_span *const *x = a, *const *y = b;

	return (*x)->n != (*y)->n ? ((*x)->n > (*y)->n ? -1 : 1) : strcmp((*x)->what, (*y)->what);
}

int ftrace_hist_print(struct source *s, bool all_tasks, struct out *out, struct err *e)
{
	struct ftrace_names *names = names_of(s);
	struct task_spans_opts so = {
		.counts = true, .all_tasks = all_tasks, .name = ftrace_profile_name_of, .ctx = names
	};
	struct task_spans *spans = NULL;
	int r = read_spans(s, &so, &spans, e);

	if (r >= 0) {
		size_t n;
		const struct task_span *rows = task_spans_rows(spans, &n);
		const struct task_span **order = mem_alloc((n + 1) * sizeof(*order));
		uint64_t total = 0;

		for (size_t i = 0; i < n; i++) {
			order[i] = &rows[i];
			total += rows[i].n;
		}
		qsort(order, n, sizeof(*order), ftrace_profile_by_count);
		for (size_t i = 0; i < n; i++) {
			out_printf(out, "%6.2f%% %10" PRIu64 "  %s",
				   100.0 * (double)order[i]->n / (double)total, order[i]->n,
				   order[i]->what);
			if (!all_tasks)
				out_printf(out, "  (%d) %s", order[i]->tid, order[i]->comm);
			out_putc(out, '\n');
			put_stacks(order[i], names, out);
		}
		free(order);
	}
	task_spans_free(spans);
	ftrace_names_free(names);
	return r < 0 ? r : 0;
}

/* --- the verb --- */

struct profile_args {
	struct ftrace_args t; /* first: the shared options expect it there */
	int seconds;
	struct ftrace_profile_opts p;
	bool only_named;
	bool to_stderr;
	const char *file;
};

typedef struct profile_args args_t;

static const struct opt opts[] = {
	FTRACE_OPTS,
	OPT_HEAD("How"),
	FTRACE_COMMAND_OPTS,
	OPT_STRS(
		'H', "hook", "START,FIELD/END,FIELD", p.hooks,
		"time from one event to another whose field agrees; ,PID behind the first, flags p "
		"(one CPU), g (of no task) behind the second"),
	OPT_FLAG('S', "only-named", only_named, "only the events of -e, not the usual ones"),
	OPT_FLAG('G', "global-irqs", p.global_irqs, "interrupts belong to no task"),
	OPT_FLAG(0, "by-comm", p.by_comm, "tasks of one name as one"),
	OPT_STR_C('o', "output", "FILE", file, "write there, not to the terminal", "@files"),
	OPT_INT(0, "duration", "SECONDS", seconds, "stop after so many seconds"),
	OPT_FLAG(0, "stderr", to_stderr,
		 "write to standard error: the command's own output stays apart"),
	FTRACE_NO_FILE_OPTS,
	OPT_END,
};

/* What is traced unless -S: scheduling and interrupts; and what hooks need. */
static int ftrace_profile_add_events(args_t *a, struct err *e)
{
	int r = 0;

	if (!a->only_named)
		ftrace_args_usual(&a->t);
	vec_each (&a->p.hooks, h)
		r = r < 0 ? r : ftrace_args_hook(&a->t, *h, e);
	return r;
}

static int print(args_t *a, struct source *s, struct err *e)
{
	struct out out;
	int r, fd = a->to_stderr ? STDERR_FILENO : STDOUT_FILENO;

	if (a->file) {
		fd = output_growing(a->file, 0, 0600, e);
		if (fd < 0)
			return fd;
	}
	out_init(&out, fd);
	r = ftrace_profile_print(s, &a->p, true, &out, e);
	out_flush(&out);
	out_free(&out);
	if (a->file)
		close(fd);
	input_warn(s);
	return r;
}

static int ftrace_profile_run(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct ftrace_wait w = { .user = a->t.user,
				 .limit_ns = (uint64_t)a->seconds * 1000000000u };
	struct source *s = NULL;
	struct ftrace f = { 0 };
	AUTO_FREE char **command = NULL;
	int r;

	if (a->only_named && !a->t.any_option)
		return err_set(e, EINVAL, "-S leaves nothing: name events with -e");
	r = ftrace_profile_add_events(a, e);
	if (r >= 0)
		r = ftrace_run_prepare(&a->t, argc, argv, &command, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0)
		r = ftrace_open(&f, &a->t.o, e);
	if (r >= 0)
		r = ftrace_run_read(&a->t, &f, &w, command, &s, e);
	ftrace_wait_close(&w);
	ftrace_run_close(&f);
	if (r >= 0 && !a->t.o.children)
		vec_each (&a->t.o.pids, pid)
			vec_push(&a->p.only, *pid);
	if (r >= 0)
		r = print(a, s, e);
	source_close(s);
	return r < 0 ? r : w.exit_code;
}

static void ftrace_profile_drop(void *args)
{
	args_t *a = args;

	ftrace_args_free(&a->t);
	vec_free(&a->p.hooks);
	vec_free(&a->p.only);
}

static const struct example examples[] = {
	{ "ftrace profile -F make", "where a build waited" },
	{ "ftrace profile -T -G sleep 1", "with the stacks of whoever was blocked" },
	{ "ftrace profile -H block_rq_issue,sector/block_rq_complete,sector,g sleep 5",
	  "how long requests take" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_profile = {
	.name = "profile",
	.group = "ftrace",
	.summary = "where tasks ran, waited and were interrupted",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "Traces scheduling and interrupts, and what -e adds, until the command ends or "
		 "Ctrl-C; then a line for each task, and what its time went into, in nanoseconds: "
		 "on CPU, "
		 "off it by state (sched_switch:S sleeps, D waits for a disk, R was preempted), "
		 "from "
		 "wake-up to run, in interrupts, in system calls (-e raw_syscalls), in functions "
		 "(-p "
		 "function_graph). -T shows the stacks.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(args_t),
	.run = ftrace_profile_run,
	.drop = ftrace_profile_drop,
};
