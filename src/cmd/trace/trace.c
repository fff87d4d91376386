/* SPDX-License-Identifier: MIT */
/* kymo trace: system calls in words, without stopping who makes them. */
#define OPT_ARGS struct trace_args
#include "cmd/trace/trace.h"

#include <string.h>

#include "cmd/command.h"

static int on_duration(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	struct trace_args *a = args;
	uint64_t *to = o->letter == 'D' ? &a->delay_ns : &a->min_ns;

	if (unset)
		*to = 0;
	else if (!str_duration(value, 1000000, to))
		return err_set(e, EINVAL,
			       "'%s' is no time: milliseconds, or with a unit (20us, 1.5s)", value);
	return 0;
}

static int on_ring(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct trace_args *a = args;
	uint64_t size = 4096;

	if (!unset && (!str_size(value, 4096, &size) || !size || size > 1ull << 31))
		return err_set(e, EINVAL, "'%s' is no size: pages, or with a unit (16M)", value);
	for (a->ring_bytes = 4096; a->ring_bytes < size;)
		a->ring_bytes *= 2;
	if (unset)
		a->ring_bytes = 0;
	return 0;
}

static int on_syscalls(const struct opt *o, const char *value, bool unset, void *args,
		       struct err *e)
{
	struct trace_args *a = args;

	a->syscalls = !unset;
	a->no_syscalls = unset;
	return 0;
}

static int on_call_graph(const struct opt *o, const char *value, bool unset, void *args,
			 struct err *e)
{
	struct trace_args *a = args;

	a->call_graph = unset ? NULL : value ? value : "fp";
	return 0;
}

static int on_faults(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct trace_args *a = args;

	a->faults = unset ? NULL : value ? value : "maj";
	if (a->faults && strcmp(a->faults, "all") != 0 && strcmp(a->faults, "min") != 0 &&
	    strcmp(a->faults, "maj") != 0)
		return err_set(e, EINVAL, "-F is all, min or maj, not '%s'", value);
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("Whom"),
	OPT_STR_C('p', "pid", "PID,...", pids,
		  "these processes, by number or name, and their children", "@pids"),
	OPT_STR_C('t', "tid", "TID,...", tids, "these threads and their children", "@pids"),
	OPT_FLAG('a', "all-cpus", all, "everybody"),
	OPT_STR_C('u', "uid", "USER", user, "whatever this user runs", "@users"),
	OPT_STR_C('C', "cpu", "LIST", cpus, "only on these CPUs", "@cpus"),
	OPT_STR_C(0, "filter-pids", "PID,...", leave_out, "not these processes", "@pids"),
	OPT_FLAG(0, "no-inherit", no_children, "not the children of those named"),
	OPT_STR_C('i', "input", "FILE", input,
		  "the calls of a recording (kymo record -e 'raw_syscalls:*')", "@files"),
	OPT_FN_UNDO('D', "delay", "MSEC", on_duration, "begin so long after the command", NULL),
	OPT_HEAD("What"),
	OPT_STRS_C('e', "event", "LIST", events,
		   "calls by name (open*,read), not these (!futex), a group (%file %desc %network "
		   "%process %memory %signal %ipc %creds %clock %stat), or other events (sched:*)",
		   "@calls"),
	OPT_FN_UNDO(0, "duration", "MSEC", on_duration, "only calls that took at least so long",
		    NULL),
	OPT_FLAG(0, "failure", failed, "only calls that failed"),
	OPT_FN_C('F', "pf", "WHICH", OPT_ARG_CHOICE, on_faults,
		 "page faults, too: all, min or maj (default: maj)", "all|min|maj"),
	OPT_FLAG(0, "signals", signals, "signals, too, when they are delivered"),
	OPT_FN0(0, "syscalls", on_syscalls,
		"system calls also when -e names only other events; --no-syscalls: none at all"),
	OPT_HEAD("Output"),
	OPT_FLAG('s', "summary", sums, "only a table of calls, errors and times"),
	OPT_FLAG('S', "with-summary", with_sums, "all calls, and the table"),
	OPT_STR_C(0, "summary-mode", "MODE", mode, "a table a process (default), a thread, or one",
		  "process|thread|total"),
	OPT_FLAG('T', "time", full_time, "times of the clock, not since the start"),
	OPT_FLAG('j', "json", json, "JSON, an object a line"),
	OPT_STR_C('o', "output", "FILE", output, "write to FILE (-: standard output)", "@files"),
	OPT_U64(0, "max-events", "N", max_events, "end after so many"),
	OPT_INT(0, "string-limit", "N", limit, "bytes of buffers that are shown (default: 64)"),
	OPT_FLAG(0, "names", names, "arguments with their names"),
	OPT_FLAG(0, "no-paths", no_paths, "descriptors without the names of their files"),
	OPT_FN_C(0, "call-graph", "HOW", OPT_ARG_CHOICE, on_call_graph,
		 "who called: stacks are walked in the kernel, whatever HOW says (fp, dwarf, lbr)",
		 "fp|dwarf|lbr"),
	OPT_INT(0, "max-stack", "N", max_stack, "frames of a stack (default: 127)"),
	OPT_FLAG('v', "verbose", verbose, "all fields of structs"),
	OPT_FN_UNDO('m', "mmap-pages", "PAGES", on_ring, "room for calls that wait to be shown",
		    NULL),
	OPT_FLAG('f', "force", ignored, "perf has it; nothing here needs to be forced"),
	OPT_FLAG(0, "comm", ignored, "perf has it; names of threads are always shown"),
	OPT_FLAG(0, "errno-summary", ignored, "perf has it; tables always have errors by name"),
	OPT_END,
};

static int trace_trace_run(void *args, int argc, char **argv, struct err *e)
{
	static const char *const modes[] = { [TRACE_BY_PROCESS] = "process",
					     [TRACE_BY_THREAD] = "thread",
					     [TRACE_BY_NONE] = "total" };
	struct trace_args *a = args;
	struct trace_pick *pick = mem_alloc(sizeof(*pick));
	int r = 0;

	for (a->by = 0; a->mode && a->by < ARRAY_SIZE(modes) && strcmp(a->mode, modes[a->by]) != 0;)
		a->by++;
	if (a->by == ARRAY_SIZE(modes))
		r = err_set(e, EINVAL, "--summary-mode is process, thread or total, not '%s'",
			    a->mode);
	if (r == 0 && (a->limit < 0 || a->limit > TRACE_STRING))
		r = err_set(e, EINVAL, "--string-limit is 0 to %d", TRACE_STRING);
	if (r == 0 && (a->max_stack < 1 || a->max_stack > 1024))
		r = err_set(e, EINVAL, "--max-stack is 1 to 1024");
	if (r == 0)
		r = trace_pick(a, pick, e);
	if (r == 0 && a->input)
		r = trace_input(a, pick, e);
	else if (r == 0)
		r = trace_run(a, pick, argc ? argv : NULL, e);
	trace_pick_free(pick);
	free(pick);
	return r;
}

static void trace_drop(void *args)
{
	struct trace_args *a = args;

	vec_free(&a->events);
}

static const struct trace_args defaults = { .limit = 64, .max_stack = 127 };

static const struct example examples[] = {
	{ "trace ls", "what a program asks of the kernel" },
	{ "trace -p 1234 -e %file", "files a running process uses" },
	{ "trace -s -p 1234 -- sleep 10", "a table of what it does in ten seconds" },
	{ "trace -s make", "a table of calls, errors and times, a process each" },
	{ "trace -a --failure -e open*", "who looks for files that are not there" },
	{ "trace -a --duration 100 -e '!futex,poll,epoll_wait'", "calls that take long" },
	{ NULL, NULL },
};

static const struct command *const subs[] = { &cmd_trace_record, NULL };

const struct command cmd_trace = {
	.name = "trace",
	.group = "Trace",
	.summary = "show system calls with their arguments, without stopping anybody",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "Shows each system call when it returns: when it began, how long it took, who "
		 "made it, its arguments in words, and its result. Files, buffers and structs are "
		 "read in the kernel. With -p, -t or -u a command says how long (sleep 10). Output "
		 "goes to standard error unless -o says otherwise; the "
		 "command's exit code is kymo's.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.complete = "@commands",
	.args_size = sizeof(struct trace_args),
	.defaults = &defaults,
	.subs = subs,
	.run = trace_trace_run,
	.drop = trace_drop,
};
