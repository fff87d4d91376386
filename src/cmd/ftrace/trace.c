/* SPDX-License-Identifier: MIT */
/*
 * kymo ftrace trace: perf ftrace's words for what `kymo ftrace stream` does. Each option sets one
 * of stream's, which does the work.
 */
#define OPT_ARGS struct words
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/ftrace/ftrace.h"
#include "kern/cpu.h"

struct words {
	struct vec_strs trace, notrace, graph, nograph;
	const char *tracer, *pids, *cpus, *size, *func_opts, *graph_opts;
	bool all, inherit;
	int delay;
	void *stream; /* its args */
	bool refused; /* by its options */
	struct arena arena;
};

static int ftrace_trace_put(struct words *w, const char *option, const char *value, struct err *e)
{
	int r = opt_set_named(cmd_ftrace_stream.opts, option,
			      value ? arena_strdup(&w->arena, value) : NULL, false, w->stream, e);

	w->refused = r < 0;
	return r;
}

/* 16M: kilobytes, as stream counts them. */
static int put_size(struct words *w, struct err *e)
{
	char kb[32];
	uint64_t bytes;

	if (!w->size)
		return 0;
	if (!str_size(w->size, 1024, &bytes) || bytes < 1024)
		return err_set(e, EINVAL, "-m wants a size with B, K, M or G, not '%s'", w->size);
	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)(bytes / 1024));
	return ftrace_trace_put(w, "buffer-size", kb, e);
}

/* 0-3,5 as the mask that the kernel wants: words of 32 bits by comma, the highest first. */
static int ftrace_trace_put_cpus(struct words *w, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	struct cpus cpus = { 0 };
	uint32_t mask[CPU_MAX / 32] = { 0 };
	int top = 0;

	if (!w->cpus)
		return 0;
	if (cpus_parse(w->cpus, &cpus, e) < 0)
		return -e->code;
	for (size_t i = 0; i < cpus.n; i++) {
		mask[cpus.cpu[i] / 32] |= 1u << cpus.cpu[i] % 32;
		top = cpus.cpu[i] / 32 > top ? cpus.cpu[i] / 32 : top;
	}
	cpus_free(&cpus);
	for (int i = top; i >= 0; i--)
		strbuf_printf(&b, i == top ? "%x" : ",%08x", mask[i]);
	return ftrace_trace_put(w, "cpumask", strbuf_str(&b), e);
}

struct graph_opt {
	struct words *w;
	struct err *e;
};

/* One of --graph-opts or --func-opts. */
static int put_opt(void *ctx, const char *part, size_t n)
{
	struct graph_opt *g = ctx;
	AUTO_FREE char *text = mem_strndup(part, n);
	static const char *const names[][2] = {
		{ "nosleep-time", "nosleep-time" },
		{ "noirqs", "nofuncgraph-irqs" },
		{ "call-graph", "func_stack_trace" },
		{ "irq-info", "irq-info" },
	};

	if (str_starts(text, "depth="))
		return ftrace_trace_put(g->w, "max-graph-depth", text + 6, g->e);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i][0], text) == 0)
			return ftrace_trace_put(g->w, "option", names[i][1], g->e);
	if (strcmp(text, "verbose") == 0) {
		int r = ftrace_trace_put(g->w, "option", "funcgraph-proc", g->e);

		return r < 0 ? r : ftrace_trace_put(g->w, "option", "funcgraph-abstime", g->e);
	}
	err_set(g->e, EINVAL, "there is no option '%s' of tracers here", text);
	if (str_starts(text, "thresh="))
		return err_hint(g->e,
				"kymo funcslower FUNCTION USEC shows only calls that took long");
	return err_hint(g->e,
			"there are: call-graph, irq-info; nosleep-time, noirqs, verbose, depth=N");
}

static int put_opts(struct words *w, const char *list, struct err *e)
{
	return list ? str_split(list, ',', put_opt, &(struct graph_opt){ w, e }) : 0;
}

static int set_stream(struct words *w, bool command, struct err *e)
{
	bool named = w->trace.n && !w->graph.n;
	const char *tracer = w->tracer ? w->tracer : named ? "function" : "function_graph";
	const struct {
		const char *option;
		const struct vec_strs *names;
	} lists[] = { { "function", &w->trace },
		      { "notrace", &w->notrace },
		      { "graph-function", &w->graph },
		      { "graph-notrace", &w->nograph } };
	int r;

	if (w->delay) {
		err_set(e, EOPNOTSUPP, "-D: tracing begins with the command here");
		return err_hint(e,
				"kymo ftrace record, and kymo ftrace report shows what came later");
	}
	r = ftrace_trace_put(w, "quiet", NULL, e);
	if (r == 0)
		r = ftrace_trace_put(w, "plugin", tracer, e);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		vec_each (lists[i].names, name)
			r = r == 0 ? ftrace_trace_put(w, lists[i].option, *name, e) : r;
	if (r == 0 && w->pids)
		r = ftrace_trace_put(w, "pid", w->pids, e);
	if (r == 0 && w->inherit)
		r = ftrace_trace_put(w, "children", NULL, e);
	if (r == 0 && command && !w->all && !w->pids && !w->cpus)
		r = ftrace_trace_put(w, "follow-command", NULL, e);
	if (r == 0)
		r = put_size(w, e);
	if (r == 0)
		r = ftrace_trace_put_cpus(w, e);
	if (r == 0)
		r = put_opts(w, w->func_opts, e);
	return r == 0 ? put_opts(w, w->graph_opts, e) : r;
}

static int ftrace_trace_run(void *args, int argc, char **argv, struct err *e)
{
	struct words *w = args;
	int r;

	w->stream = mem_alloc(cmd_ftrace_stream.args_size);
	r = set_stream(w, argc > 0, e);
	if (r == 0)
		return cmd_ftrace_stream.run(w->stream, argc, argv, e);
	if (!w->refused)
		return r;
	if (!e->hint[0])
		err_hint(e, "kymo ftrace trace -h shows the options");
	command_error("ftrace trace", e);
	return EXIT_USAGE;
}

static void ftrace_trace_drop(void *args)
{
	struct words *w = args;

	if (w->stream)
		cmd_ftrace_stream.drop(w->stream);
	free(w->stream);
	arena_free(&w->arena);
	vec_free(&w->trace);
	vec_free(&w->notrace);
	vec_free(&w->graph);
	vec_free(&w->nograph);
}

static const struct opt opts[] = {
	OPT_STR_C('t', "tracer", "TRACER", tracer,
		  "function_graph (default) or function; another of kymo ftrace list -t",
		  "function_graph|function"),
	OPT_STRS('T', "trace-funcs", "FUNC", trace, "only these functions; function tracer"),
	OPT_STRS('N', "notrace-funcs", "FUNC", notrace, "not these functions"),
	OPT_STRS('G', "graph-funcs", "FUNC", graph, "only what these functions call"),
	OPT_STRS('g', "nograph-funcs", "FUNC", nograph, "not what these call"),
	OPT_STR_C('p', "pid", "PID,...", pids, "only these threads", "@pids"),
	OPT_FLAG(0, "inherit", inherit, "and what they start"),
	OPT_FLAG('a', "all-cpus", all, "everybody, not only the command"),
	OPT_STR_C('C', "cpu", "LIST", cpus, "only these CPUs, as 0-3,5", "@cpus"),
	OPT_STR('m', "buffer-size", "SIZE", size, "of each CPU's buffer: 16M"),
	OPT_STR(0, "func-opts", "LIST", func_opts, "call-graph, irq-info"),
	OPT_STR(0, "graph-opts", "LIST", graph_opts, "nosleep-time, noirqs, verbose, depth=N"),
	OPT_INT('D', "delay", "MSEC", delay, "perf has it; refused with what helps"),
	OPT_END,
};

static const struct example examples[] = {
	{ "ftrace trace -T 'vfs_*' ls", "calls of these functions by a command" },
	{ "ftrace trace -G vfs_read -a -- sleep 1", "what vfs_read calls, whoever does" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_trace = {
	.name = "trace",
	.group = "ftrace",
	.summary = "functions of the kernel as they are called, in perf ftrace's words",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "perf ftrace's options; kymo ftrace stream does the work and has more. "
		 "kymo functime is perf ftrace latency.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(struct words),
	.run = ftrace_trace_run,
	.drop = ftrace_trace_drop,
};
