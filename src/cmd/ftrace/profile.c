/* SPDX-License-Identifier: MIT */
/* kymo ftrace profile, and the tables of report --profile. */
#define OPT_ARGS struct profile_args
#include "cmd/ftrace/profile.h"

#include <errno.h>
#include <string.h>

#include "base/output.h"
#include "calc/analysis/task_spans.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "cmd/share/input.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/spans_text.h"

/* Those of the command line, and those that record noted in the file. */
static size_t all_hooks(const struct ftrace_profile_opts *o, const struct tracedat *t,
			const char **ret)
{
	size_t n = 0;

	vec_each (&o->hooks, h)
		ret[n++] = *h;
	for (size_t i = 0; t && i < t->n_hooks; i++) {
		bool given = false;

		for (size_t k = 0; k < n && !given; k++)
			given = strcmp(ret[k], t->hooks[i]) == 0;
		if (!given)
			ret[n++] = t->hooks[i];
	}
	return n;
}

int ftrace_profile_tables(struct source *s, const struct ftrace_profile_opts *o,
			  const struct analyse_args *show, struct tables *ret, struct err *e)
{
	const struct tracedat *t = strcmp(s->format, "trace.dat") == 0 ? tracedat_of(s) : NULL;
	size_t n_noted = t ? t->n_hooks : 0;
	AUTO_FREE const char **hooks = mem_alloc((o->hooks.n + n_noted + 1) * sizeof(*hooks));
	struct task_profile_opts opts = { .hooks = hooks,
					  .n_hooks = all_hooks(o, t, hooks),
					  .only = o->only.data,
					  .n_only = o->only.n,
					  .by_comm = o->by_comm,
					  .global_irqs = o->global_irqs };

	return analyse_source(&(struct analyse){ &analysis_profile, .args = &opts }, show, s, ret,
			      e);
}

/* --- the verb --- */

struct profile_args {
	struct ftrace_args t; /* first: the shared options expect it there */
	struct analyse_args show;
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
	OPT_STR_C(0, "input", "FILE", show.input, "of a recording of any kind: trace nothing",
		  "@files"),
	ANALYSE_FORMS,
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
	const struct analyse profile = { &analysis_profile, .text = spans_text_profile };
	struct tables tables = { 0 };
	FILE *f = a->to_stderr ? stderr : stdout;
	int r = ftrace_profile_tables(s, &a->p, &a->show, &tables, e), fd;

	if (r == 0 && a->file) {
		fd = output_growing(a->file, 0, 0600, e);
		r = fd < 0 ? fd : 0;
		f = fd < 0 ? NULL : fdopen(fd, "w");
	}
	if (r == 0)
		r = analyse_print(f, &profile, &a->show, &tables, e);
	if (f && f != stdout && f != stderr && fclose(f) != 0 && r == 0)
		r = err_set(e, errno, "cannot write %s: %m", a->file);
	tables_free(&tables);
	input_warn(s);
	return r;
}

/* What was traced before. */
static int ftrace_profile_read(args_t *a, struct err *e)
{
	struct source *s = NULL;
	int r = input_open(a->show.input, &s, e);

	if (r < 0)
		return r;
	r = print(a, s, e);
	source_close(s);
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

	if (a->show.input)
		return argc ? err_set(e, EINVAL, "with --input no command is run")
			    : ftrace_profile_read(a, e);
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
	{ "ftrace profile --input perf.data -j", "of a recording, for programs" },
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
