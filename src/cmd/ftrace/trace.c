/* SPDX-License-Identifier: MIT */
/*
 * kymo ftrace trace: perf ftrace's words for what `kymo ftrace stream` does. Each option is
 * said in stream's, which does the work.
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
	VEC(char *) line; /* of stream, owned */
};

static void ftrace_trace_put(struct words *w, const char *option, const char *value)
{
	vec_push(&w->line, mem_strdup(option));
	if (value)
		vec_push(&w->line, mem_strdup(value));
}

static void ftrace_trace_put_all(struct words *w, const char *option, const struct vec_strs *list)
{
	for (size_t i = 0; i < list->n; i++)
		ftrace_trace_put(w, option, list->data[i]);
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
	ftrace_trace_put(w, "-b", kb);
	return 0;
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
	ftrace_trace_put(w, "-M", strbuf_str(&b));
	return 0;
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

	if (str_starts(text, "depth=")) {
		ftrace_trace_put(g->w, "--max-graph-depth", text + 6);
		return 0;
	}
	if (strcmp(text, "verbose") == 0) {
		ftrace_trace_put(g->w, "-O", "funcgraph-proc");
		ftrace_trace_put(g->w, "-O", "funcgraph-abstime");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i][0], text) == 0) {
			ftrace_trace_put(g->w, "-O", names[i][1]);
			return 0;
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

static int make_line(struct words *w, int argc, char **argv, struct err *e)
{
	bool named = w->trace.n && !w->graph.n;
	int r;

	if (w->delay) {
		err_set(e, EOPNOTSUPP, "-D: tracing begins with the command here");
		return err_hint(e,
				"kymo ftrace record, and kymo ftrace report shows what came later");
	}
	ftrace_trace_put(w, "stream", NULL);
	ftrace_trace_put(w, "-q", NULL);
	ftrace_trace_put(w, "-p", w->tracer ? w->tracer : named ? "function" : "function_graph");
	ftrace_trace_put_all(w, "-l", &w->trace);
	ftrace_trace_put_all(w, "-n", &w->notrace);
	ftrace_trace_put_all(w, "-g", &w->graph);
	ftrace_trace_put_all(w, "--graph-notrace", &w->nograph);
	if (w->pids)
		ftrace_trace_put(w, "-P", w->pids);
	if (w->inherit)
		ftrace_trace_put(w, "-c", NULL);
	if (argc && !w->all && !w->pids && !w->cpus)
		ftrace_trace_put(w, "-F", NULL);
	r = put_size(w, e);
	if (r == 0)
		r = ftrace_trace_put_cpus(w, e);
	if (r == 0)
		r = put_opts(w, w->func_opts, e);
	if (r == 0)
		r = put_opts(w, w->graph_opts, e);
	if (r < 0)
		return r;
	ftrace_trace_put(w, "--", NULL);
	for (int i = 0; i < argc; i++)
		ftrace_trace_put(w, argv[i], NULL);
	vec_push(&w->line, NULL);
	return 0;
}

static int ftrace_trace_run(void *args, int argc, char **argv, struct err *e)
{
	struct words *w = args;
	int r = make_line(w, argc, argv, e);
	AUTO_FREE char **line = NULL;

	if (r < 0)
		return r;
	/* a copy: parsing moves words about, and ftrace_trace_drop() wants them all */
	line = mem_dup(w->line.data, w->line.n * sizeof(*line));
	return command_run(&cmd_ftrace_stream, "ftrace trace", (int)w->line.n - 1, line);
}

static void ftrace_trace_drop(void *args)
{
	struct words *w = args;

	vec_each (&w->line, word)
		free(*word);
	vec_free(&w->line);
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
