/* SPDX-License-Identifier: MIT */
/* kymo ftrace record: trace into a trace.dat. */
#define OPT_ARGS struct ftrace_record_args
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/opts.h"
#include "cmd/ftrace/run.h"

struct ftrace_record_args {
	struct ftrace_args t; /* first: the shared options expect it there */
	int seconds;
	bool profile, poll, only_named, own_stderr;
};

typedef struct ftrace_record_args args_t;

static int on_hook(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;

	vec_push(&a->t.hooks, value);
	a->t.any_option = true;
	return ftrace_args_hook(&a->t, value, e);
}

static const struct opt opts[] = {
	FTRACE_OPTS,
	OPT_HEAD("How"),
	FTRACE_COMMAND_OPTS,
	OPT_STR_C('o', "output", "FILE", t.output, "write to FILE (default: trace.dat)", "@files"),
	OPT_U64('m', "max-size", "KB", t.max_kb, "keep the newest KB of each CPU"),
	OPT_U64('s', "sleep", "US", t.sleep_us, "look for pages each US microseconds"),
	OPT_INT('r', "priority", "PRIO", t.priority, "real-time priority of the recording threads"),
	OPT_FLAG(0, "poll", poll, "never wait for pages, look each millisecond (or -s US)"),
	OPT_INT(0, "duration", "SECONDS", seconds, "stop after so many seconds"),
	OPT_FLAG(0, "profile", profile,
		 "what report --profile needs as well: scheduling and interrupts; -T adds stacks"),
	OPT_FLAG('S', "only-named", only_named,
		 "with --profile: only the events of -e, not the usual ones"),
	OPT_FN('H', "hook", "START,FIELD/END,FIELD", on_hook,
	       "trace these two events, and let report --profile time from one to the other"),
	OPT_ACCEPTED('G', "global-irqs"),
	OPT_ACCEPTED(0, "by-comm"),
	OPT_FLAG('k', "keep", t.keep_buffers,
		 "leave instances and settings as they are at the end"),
	OPT_FLAG(0, "date", t.date, "show the time of day in reports"),
	OPT_FLAG(0, "tsc2nsec", t.tsc_to_ns,
		 "stamps are the CPU's cycles (-C x86-tsc), and reports show them as times"),
	OPT_STR(0, "ts-offset", "N", t.offset,
		"reports add this to the stamps (nanoseconds, mostly)"),
	OPT_FLAG(0, "proc-map", t.maps,
		 "save what the command, and the processes of -P, have mapped: names for their "
		 "addresses"),
	OPT_FLAG('a', "all-formats", t.o.all_formats,
		 "save the formats of all events, for what others enable"),
	OPT_FLAG(0, "no-filter", t.no_filter, "show kymo's own threads, too"),
	OPT_STR_C(0, "compression", "NAME", t.compression, "zstd, zlib, none, any",
		  "zstd|zlib|none|any"),
	OPT_INT(0, "file-version", "6|7", t.version, "of trace.dat (default: 7)"),
	OPT_STR_C(0, "temp", "DIR", t.temp, "where pages are kept until the end", "@dirs"),
	OPT_FLAG(0, "stderr", own_stderr, "as trace-cmd has it: kymo's own words always go there"),
	OPT_FN('A', "agent", "GUEST", ftrace_on_remote,
	       "refused: there is no remote recording yet"),
	OPT_FN('N', "network", "HOST:PORT", ftrace_on_remote,
	       "refused: there is no remote recording yet"),
	OPT_FN('V', "vsock", "CID:PORT", ftrace_on_remote,
	       "refused: there is no remote recording yet"),
	ACCEPTED_('t', "tcp", OPT_ARG_NONE, ftrace_on_remote),
	ACCEPTED_(0, "name", OPT_ARG_REQUIRED, ftrace_on_remote),
	ACCEPTED_(0, "proxy", OPT_ARG_REQUIRED, ftrace_on_remote),
	ACCEPTED_(0, "tsync-interval", OPT_ARG_REQUIRED, ftrace_on_remote),
	OPT_END,
};

/* What a hist trigger counted is gone with the instance. */
static int print_hist(void *ctx, const char *system, const char *event, struct err *e)
{
	const struct ftrace_buffer *b = ctx;
	AUTO_FREE char *path = mem_printf("%s/events/%s/%s/hist", b->dir, system, event);

	if (access(path, R_OK) < 0)
		return 0;
	printf("# histogram of %s:%s\n", system, event);
	fflush(stdout);
	return ftrace_print_file(path, e);
}

static void print_hists(const struct ftrace *f)
{
	vec_each (&f->buffers, b)
		vec_each (&b->opt->events, ev)
			if (ev->trigger && strstr(ev->trigger, "hist:"))
				ftrace_match_events(f->root, ev->name, print_hist, b, NULL);
}

/* --tsc2nsec: every buffer by the cycle counter. */
static int count_cycles(struct ftrace_args *a, struct err *e)
{
	if (a->date)
		return err_set(e, EINVAL, "--date and --tsc2nsec do not go together");
	vec_each (&a->o.buffers, b) {
		if (b->clock && strcmp(b->clock, "x86-tsc") != 0)
			return err_set(e, EINVAL, "--tsc2nsec is for the clock x86-tsc, not '%s'",
				       b->clock);
		b->clock = "x86-tsc";
	}
	return tsc_scale(&a->tsc, e);
}

static int ftrace_record_run(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct ftrace_wait w = { .user = a->t.user,
				 .limit_ns = (uint64_t)a->seconds * 1000000000u };
	struct watching_opts watching = { .what = "events",
					  .whom = a->t.o.pids.n ? "some threads"
								: "the whole machine",
					  .quiet = a->t.quiet,
					  .limit_ns = w.limit_ns };
	struct ftrace f = { 0 };
	AUTO_FREE char **command = NULL;
	int64_t offset;
	int r;

	if (a->profile && !a->only_named)
		ftrace_args_usual(&a->t);
	if (a->poll && !a->t.sleep_us)
		a->t.sleep_us = 1000;
	if (!a->t.any_option) {
		err_set(e, EINVAL, "what shall be traced?");
		return err_hint(e, "name events (-e sched) or a tracer (-p function -l 'vfs_*')");
	}
	if (a->t.offset && !str_i64(a->t.offset, &offset))
		return err_set(e, EINVAL, "--ts-offset wants a number, not '%s'", a->t.offset);
	if (!a->t.output)
		a->t.output = "trace.dat";
	r = a->t.tsc_to_ns ? count_cycles(&a->t, e) : 0;
	if (r >= 0)
		r = ftrace_run_prepare(&a->t, argc, argv, &command, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	watching.command = command ? command[0] : NULL;
	watching.of_command = a->t.filter_command;
	w.watching = &watching;
	if (r >= 0)
		r = ftrace_open(&f, &a->t.o, e);
	if (r >= 0)
		r = ftrace_run_capture(&a->t, &f, &w, command, e);
	ftrace_wait_close(&w);
	if (r >= 0 && !a->t.quiet)
		print_hists(&f);
	if (a->t.keep_buffers && r >= 0)
		ftrace_forget(&f);
	ftrace_run_close(&f);
	return r < 0 ? r : w.exit_code;
}

static void ftrace_record_drop(void *args)
{
	ftrace_args_free(&((args_t *)args)->t);
}

static const struct example examples[] = {
	{ "ftrace record -e sched -e irq sleep 1", "scheduling and interrupts for a second" },
	{ "ftrace record -e block:block_rq_insert -F dd if=/dev/vda of=/dev/null count=9",
	  "of one command" },
	{ "ftrace record -p function_graph -g ksys_write --max-graph-depth 2 -F ls",
	  "what write calls, and how long it takes" },
	{ "ftrace record -p function -l 'vfs_*' -P 1234",
	  "functions of one process, until Ctrl-C" },
	{ "ftrace record -B net -e net -B disk -e block sleep 5", "two instances in one file" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_record = {
	.name = "record",
	.group = "ftrace",
	.summary = "trace events and functions into a trace.dat",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "Traces until the command ends, or Ctrl-C. Events are traced in an instance of "
		 "their "
		 "own; the top instance is used only for tracers that instances cannot have. All "
		 "settings come back at the end, and after kill -9 with the next kymo command.",
	.examples = examples,
	.opts = opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(args_t),
	.run = ftrace_record_run,
	.drop = ftrace_record_drop,
};
