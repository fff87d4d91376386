/* SPDX-License-Identifier: MIT */
/* kymo ftrace hist and mem. */
#define OPT_ARGS struct sums_args
#include <stdio.h>
#include <unistd.h>

#include "base/opt.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/profile.h"
#include "cmd/share/analyse.h"
#include "cmd/share/input.h"
#include "cmd/share/open.h"

struct sums_args {
	const char *input;
	bool all_tasks;
};

/* --- hist --- */

static int open_input(const struct sums_args *a, int argc, char **argv, struct source **ret,
		      struct err *e)
{
	if (argc > 1 || (argc && a->input))
		return err_set(e, EINVAL, "what is '%s'? one file is read", argv[argc - 1]);
	return source_open(argc ? argv[0] : a->input ? a->input : "trace.dat", ret, e);
}

static int run_hist(void *args, int argc, char **argv, struct err *e)
{
	const struct sums_args *a = args;
	struct source *s = NULL;
	struct out out;
	int r = open_input(a, argc, argv, &s, e);

	if (r < 0)
		return r;
	out_init(&out, STDOUT_FILENO);
	r = ftrace_hist_print(s, a->all_tasks, &out, e);
	out_flush(&out);
	out_free(&out);
	input_warn(s);
	source_close(s);
	return r;
}

static const struct opt hist_opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_FLAG('P', "all-tasks", all_tasks, "all tasks together"),
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

/* --- mem --- */

static int run_mem(void *args, int argc, char **argv, struct err *e)
{
	return analyse(&analysis_kmem_tasks, args, "trace.dat", argc, argv, e);
}

#undef OPT_ARGS
#define OPT_ARGS struct analyse_args
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
	.args_size = sizeof(struct analyse_args),
	.run = run_mem,
};
