/* SPDX-License-Identifier: MIT */
/* Options that the verbs of `kymo ftrace` share: what is traced, in trace-cmd's letters. */
#pragma once

#include "base/mem.h"
#include "base/opt.h"
#include "cmd/share/accept.h"
#include "kern/perf.h"
#include "live/ftrace/ftrace.h"

struct ftrace_args {
	struct ftrace_opts o;
	struct arena arena; /* texts that were put together */
	bool negate;	    /* -v: the -e and -B behind it turn off */
	bool any_option;    /* something to trace was named */
	const char *output; /* -o */
	uint64_t max_kb, sleep_us;
	int priority;
	bool filter_command; /* -F */
	bool keep_buffers, date, quiet, no_filter, no_functions, all_off;
	const char *compression, *user, *temp;
	const char *offset;	 /* --ts-offset */
	VEC(const char *) hooks; /* -H of record: kept for report --profile */
	bool maps;	/* --proc-map: what the traced processes have mapped goes into the file */
	bool tsc_to_ns; /* --tsc2nsec: the clock is the cycle counter, told in nanoseconds */
	struct tsc_scale tsc;
	int version;
	const char *remote;
	const char *size_option; /* what makes buffers larger; NULL: "-b KB" */
	const char *announce;	 /* said when tracing runs; NULL: nothing */
};

/* With these a command's table is made; its args begin with struct ftrace_args as member t. */
opt_fn ftrace_on_event, ftrace_on_filter, ftrace_on_trigger, ftrace_on_text, ftrace_on_size,
	ftrace_on_buffer, ftrace_on_pid, ftrace_on_negate, ftrace_on_depth, ftrace_on_remote;

#define FTRACE_OPTS                                                                                \
	OPT_FN_C('e', "event", "EVENT", OPT_ARG_REQUIRED, ftrace_on_event,                         \
		 "trace EVENT: SYSTEM, SYSTEM:EVENT, a pattern, or all", "@events"),               \
		OPT_FN('f', "filter", "FILTER", ftrace_on_filter, "of the -e before, only those"), \
		OPT_FN('R', "trigger", "TRIGGER", ftrace_on_trigger,                               \
		       "what the -e before sets off: traceoff, stacktrace, snapshot, hist:..."),   \
		OPT_FN('p', "plugin", "TRACER", ftrace_on_text,                                    \
		       "a tracer: function, function_graph, ... (kymo ftrace list -t)"),           \
		OPT_FN('l', "function", "FUNC", ftrace_on_text,                                    \
		       "only these functions (pattern; FUNC:traceoff:N and other commands too)"),  \
		OPT_FN('n', "notrace", "FUNC", ftrace_on_text, "not these functions"),             \
		OPT_FN('g', "graph-function", "FUNC", ftrace_on_text,                              \
		       "function_graph: only what these functions call"),                          \
		OPT_FN(0, "graph-notrace", "FUNC", ftrace_on_text,                                 \
		       "function_graph: not what these call"),                                     \
		OPT_FN(0, "module", "MODULE", ftrace_on_text, "only functions of this module"),    \
		OPT_FN(0, "max-graph-depth", "N", ftrace_on_depth,                                 \
		       "function_graph: so many calls deep"),                                      \
		OPT_FN('O', "option", "NAME", ftrace_on_text,                                      \
		       "set a trace option; noNAME clears it"),                                    \
		OPT_FN('C', "clock", "CLOCK", ftrace_on_text,                                      \
		       "the clock of the stamps: local, global, mono, boot ..."),                  \
		OPT_FN('M', "cpumask", "MASK", ftrace_on_text, "only these CPUs, as hex mask"),    \
		OPT_FN('b', "buffer-size", "KB", ftrace_on_size, "size of each CPU's buffer"),     \
		OPT_FN('B', "buffer", "NAME", ftrace_on_buffer,                                    \
		       "an instance of this name; what follows is for it"),                        \
		OPT_FN0('v', "invert", ftrace_on_negate,                                           \
			"the -e that follow are turned off, the -B removed"),                      \
		OPT_FN_C('P', "pid", "PID,...", OPT_ARG_REQUIRED, ftrace_on_pid,                   \
			 "only these threads, or processes by name", "@pids"),                     \
		OPT_FLAG('c', "children", t.o.children, "and what they (-P, -F) start"),           \
		OPT_FLAG('T', "stacks", t.o.event_stack, "a kernel stack with every event"),       \
		OPT_FLAG(0, "func-stack", t.o.func_stack,                                          \
			 "a kernel stack with every function (name some with -l!)"),               \
		OPT_FLAG('i', "ignore-missing", t.o.ignore_missing,                                \
			 "events that are not there are no error"),                                \
		OPT_U64(0, "cmdlines-size", "N", t.o.cmdlines, "names of tasks the kernel keeps"), \
		OPT_ACCEPTED_OPTIONAL("verbose")

/* Of the verbs that run a command. */
#define FTRACE_COMMAND_OPTS                                                                \
	OPT_FLAG('F', "follow-command", t.filter_command, "only the command that is run"), \
		OPT_FLAG('d', "no-functions", t.no_functions,                              \
			 "without the function tracer in other tracers"),                  \
		OPT_FLAG('D', "all-off", t.all_off,                                        \
			 "the same (kymo never turns functions off for all users)"),       \
		OPT_STR(0, "user", "USER", t.user, "run the command as USER"),             \
		OPT_FLAG(0, "top", t.o.top, "use the top instance, as trace-cmd does"),    \
		OPT_FLAG('q', "quiet", t.quiet, "say nothing but errors")

/* Of record, where nothing is read into a file: they choose nothing. */
#define FTRACE_NO_FILE_OPTS                                                \
	OPT_ACCEPTED_ARG('m', "max-size"), OPT_ACCEPTED_ARG('s', "sleep"), \
		OPT_ACCEPTED_ARG('r', "priority")

/* The first buffer is there; all options find one. Call before parsing is over: it is cheap. */
struct ftrace_buffer_opt *ftrace_args_buffer(struct ftrace_args *a);
/* What a profile is made of: scheduling and interrupts. */
void ftrace_args_usual(struct ftrace_args *a);
/* The events that a hook (-H, calc/analysis/task_spans.h) is about. */
int ftrace_args_hook(struct ftrace_args *a, const char *hook, struct err *e);
int ftrace_args_check(struct ftrace_args *a, struct err *e);
void ftrace_args_free(struct ftrace_args *a);
