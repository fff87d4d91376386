/* SPDX-License-Identifier: MIT */
/* kymo ftrace hist and mem. */
#define OPT_ARGS struct sums_args
#include "base/opt.h"
#include "calc/analysis/task_spans.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/share/analyse.h"
#include "view/ftrace/spans_text.h"

struct sums_args {
	struct analyse_args show;
	struct event_hist_opts hist;
};

static int run_hist(void *args, int argc, char **argv, struct err *e)
{
	const struct sums_args *a = args;
	const struct analyse hist = { &analysis_hist, "trace.dat", &a->hist, spans_text_hist };

	return analyse(&hist, &a->show, argc, argv, e);
}

static const struct opt hist_opts[] = {
	ANALYSE_OPTS("trace.dat"),
	OPT_FLAG('P', "all-tasks", hist.all_tasks, "all tasks together"),
	OPT_END,
};

const struct command cmd_ftrace_hist = {
	.name = "hist",
	.group = "ftrace",
	.summary = "how often each event or function of a recording came, with stacks",
	.usage = "[-P] [FILE]",
	.about = "kymo ftrace record -R 'hist:keys=...' counts in the kernel; kymo ftrace show "
		 "--hist "
		 "shows it.",
	.opts = hist_opts,
	.args_size = sizeof(struct sums_args),
	.run = run_hist,
};

static int run_mem(void *args, int argc, char **argv, struct err *e)
{
	const struct sums_args *a = args;
	const struct analyse mem = { &analysis_kmem_tasks, "trace.dat" };

	return analyse(&mem, &a->show, argc, argv, e);
}

static const struct opt mem_opts[] = {
	ANALYSE_OPTS("trace.dat"),
	OPT_END,
};

const struct command cmd_ftrace_mem = {
	.name = "mem",
	.group = "ftrace",
	.summary = "kernel memory that tasks took, from kmem events of a recording",
	.usage = "[FILE]",
	.opts = mem_opts,
	.args_size = sizeof(struct sums_args),
	.run = run_mem,
};
