/* SPDX-License-Identifier: MIT */
/* kymo functrace, funcgraph, funcslower: kernel functions as they are called. */
#include <string.h>

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/probe/functool.h"

struct args {
	struct functool ft; /* first */
	bool on_cpu, no_duration, process, times, tail, all;
	int depth;
};

static int one_function(int argc, const char *name, struct err *e)
{
	if (argc == 1)
		return 0;
	err_set(e, EINVAL, argc ? "one function, or one pattern, is traced" : "which function?");
	return err_hint(e, "for instance: kymo %s vfs_read", name);
}

/* --- functrace --- */

static const struct opt functrace_opts[] = {
	FUNCTOOL_OPTS,
	OPT_END,
};

static int functrace_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct ftrace_buffer_opt *b = ftrace_args_buffer(&a->ft.t);
	int r = one_function(argc, "functrace", e);

	if (r < 0)
		return r;
	b->tracer = "function";
	vec_push(&b->functions, argv[0]);
	snprintf(a->ft.what, sizeof(a->ft.what), "\"%s\"", argv[0]);
	r = functool_run(&a->ft, e);
	return r < 0 ? functool_hint(e, r) : 0;
}

const struct command cmd_functrace = {
	FUNCTOOL_COMMAND(functrace),
	.summary = "calls of kernel functions, one by one",
	.usage = "[OPTIONS] FUNCTION",
	.about = "Traces calls of a kernel function, or of all that match a pattern with *, with "
		 "the kernel's function tracer. Many calls cost much: try funccount first.",
	.examples = EXAMPLES({ "functrace do_sys_openat2", "every call, with who made it" },
			     { "functrace -d 5 'tcp_s*'", "five seconds of several functions" },
			     { "functrace -H -p 181 'vfs_*'", "of one process, with headings" }),
};

/* --- funcgraph --- */

#define GRAPH_OPTS                                                               \
	OPT_FLAG('a', "all", all, "all columns (-HPt)"),                         \
		OPT_FLAG('C', "on-cpu", on_cpu, "count time on the CPU only"),   \
		OPT_FLAG('P', "process", process, "name and id of the process"), \
		OPT_FLAG('t', "timestamps", times, "times")

static const struct opt funcgraph_opts[] = {
	FUNCTOOL_OPTS,
	GRAPH_OPTS,
	OPT_FLAG('D', "no-duration", no_duration, "without durations"),
	OPT_FLAG('T', "tails", tail, "the function's name behind its closing brace"),
	OPT_INT('m', "max-depth", "DEPTH", depth, "so many calls deep"),
	OPT_END,
};

static void graph_columns(struct args *a, struct ftrace_buffer_opt *b)
{
	if (a->all)
		a->ft.headers = a->process = a->times = true;
	b->tracer = "function_graph";
	if (a->process)
		vec_push(&b->options, "funcgraph-proc");
	if (a->times)
		vec_push(&b->options, "funcgraph-abstime");
	if (a->tail)
		vec_push(&b->options, "funcgraph-tail");
	if (a->no_duration)
		vec_push(&b->options, "nofuncgraph-duration");
	if (a->on_cpu)
		vec_push(&b->options, "nosleep-time");
}

static int funcgraph_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct ftrace_buffer_opt *b = ftrace_args_buffer(&a->ft.t);
	int r = one_function(argc, "funcgraph", e);

	if (r < 0)
		return r;
	graph_columns(a, b);
	vec_push(&b->graph, argv[0]);
	a->ft.graph = true;
	a->ft.graph_bars = (unsigned)(a->times + a->process + !a->no_duration);
	if (a->depth == 1) /* what it calls is not shown: the kernel need not be changed for that */
		vec_push(&b->functions, argv[0]);
	a->ft.t.o.max_depth = a->depth;
	snprintf(a->ft.what, sizeof(a->ft.what), "\"%s\"", argv[0]);
	r = functool_run(&a->ft, e);
	return r < 0 ? functool_hint(e, r) : 0;
}

const struct command cmd_funcgraph = {
	FUNCTOOL_COMMAND(funcgraph),
	.summary = "what a kernel function calls, with times",
	.usage = "[OPTIONS] FUNCTION",
	.about = "Shows the calls inside a kernel function as code with durations: + more than 10 "
		 "us, ! 100 us, # 1 ms, $ 1 s.",
	.examples = EXAMPLES(
		{ "funcgraph vfs_read", "what it calls, and how long that takes" },
		{ "funcgraph -Htp 198 vfs_read", "of one process, with headings and times" },
		{ "funcgraph -m 3 do_sys_openat2", "three calls deep" }),
};

/* --- funcslower --- */

static const struct opt funcslower_opts[] = {
	FUNCTOOL_OPTS,
	GRAPH_OPTS,
	OPT_END,
};

static int funcslower_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	struct ftrace_buffer_opt *b = ftrace_args_buffer(&a->ft.t);
	uint64_t us;
	int r;

	if (argc != 2 || !str_u64(argv[1], &us) || !us) {
		err_set(e, EINVAL, "funcslower takes a function and a time in microseconds");
		return err_hint(e, "for instance: kymo funcslower vfs_read 1000");
	}
	graph_columns(a, b);
	vec_push(&b->functions, argv[0]);
	a->ft.t.o.thresh_us = us;
	snprintf(a->ft.what, sizeof(a->ft.what), "\"%s\" slower than %llu us", argv[0],
		 (unsigned long long)us);
	r = functool_run(&a->ft, e);
	return r < 0 ? functool_hint(e, r) : 0;
}

const struct command cmd_funcslower = {
	FUNCTOOL_COMMAND(funcslower),
	.summary = "calls of a kernel function that take longer than a limit",
	.usage = "[OPTIONS] FUNCTION MICROSECONDS",
	.examples = EXAMPLES(
		{ "funcslower vfs_read 10000", "reads of 10 ms and more" },
		{ "funcslower -P -p 1234 vfs_write 500", "of one process, with its name" }),
};
