/* SPDX-License-Identifier: MIT */
/* kymo ftrace report: a trace.dat as text, in trace-cmd's words and with its options. */
#define OPT_ARGS struct ftrace_report_args
#include "cmd/ftrace/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"

typedef struct ftrace_report_args args_t;

static int on_input(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;

	vec_push(&a->inputs, (struct ftrace_report_input){ .path = value });
	return 0;
}

static int on_filter(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;

	vec_push(&a->filters, (struct ftrace_report_filter){ value, a->negate });
	return 0;
}

/* --cpu, --pid and --comm add to what was given before. */
static int on_list(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;
	char **list = o->letter == 'C' || strcmp(o->name, "cpu") == 0 ? &a->cpus
		      : strcmp(o->name, "pid") == 0		      ? &a->pids
								      : &a->comms;
	char *all = *list ? mem_printf("%s,%s", *list, value) : mem_strdup(value);

	free(*list);
	*list = all;
	return 0;
}

static int on_verbose(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	static const char *const names[] = {
		"none", "crit", "err", "warn", "info", "debug", "all"
	};
	args_t *a = args;
	uint64_t level = 4;

	if (value && !str_u64(value, &level))
		for (level = 0; level < ARRAY_SIZE(names) && strcmp(value, names[level]) != 0;)
			level++;
	if (level >= ARRAY_SIZE(names))
		return err_set(e, EINVAL, "--verbose wants a level of 0 to 6, not '%s'", value);
	a->quiet = a->quiet || level < 3;
	return 0;
}

static int on_time(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;
	int64_t v;

	if (!str_i64(value, &v))
		return err_set(e, EINVAL, "--%s wants a number, not '%s'", o->name, value);
	if (strcmp(o->name, "ts-offset") == 0) {
		if (!a->inputs.n)
			return err_set(e, EINVAL,
				       "--ts-offset belongs behind the -i FILE it is for");
		a->inputs.data[a->inputs.n - 1].time_offset = v;
	} else if (v <= 0) {
		return err_set(e, EINVAL, "--ts2secs wants the clock's ticks in a second");
	} else if (a->inputs.n > 1) {
		a->inputs.data[a->inputs.n - 1].hz = (uint64_t)v;
	} else {
		a->hz = (uint64_t)v;
	}
	return 0;
}

static const struct opt opts[] = {
	OPT_FN_C('i', "input", "FILE", OPT_ARG_REQUIRED, on_input,
		 "read FILE (default: trace.dat); several are merged by time", "@files"),
	OPT_HEAD("Which events"),
	OPT_FN('F', "filter", "EVENTS:FILTER", on_filter,
	       "only these events, and of them those for which FILTER holds"),
	OPT_FLAG('v', "negate", negate, "the -F that follow say what not to show"),
	OPT_FN_C(0, "cpu", "LIST", OPT_ARG_REQUIRED, on_list, "only these CPUs, as 0-3,5", "@cpus"),
	OPT_FN('C', NULL, "LIST", on_list, "the same"),
	OPT_FN(0, "pid", "LIST", on_list, "only what concerns these threads"),
	OPT_FN(0, "comm", "LIST", on_list, "only what concerns these commands"),
	OPT_FLAG('I', "no-irqs", no_irqs, "leave out what happened in hard interrupts"),
	OPT_FLAG('S', "no-softirqs", no_softirqs, "leave out what happened in soft interrupts"),
	OPT_HEAD("How they are shown"),
	OPT_FLAG('l', "latency", latency, "narrow columns with interrupt state (latency format)"),
	OPT_FLAG('t', "full-time", nsec, "times with nine digits"),
	OPT_FLAG('R', "raw", raw, "fields with their values instead of words"),
	OPT_STRS('r', "raw-event", "EVENT", raw_events,
		 "the same for events that match (regular expression)"),
	OPT_STRS('n', "no-handler", "EVENT", plain_events, "these events by their print format"),
	OPT_FLAG('N', "no-plugins", no_plugins, "all events by their print format"),
	OPT_FLAG('L', "local-plugins", no_plugins, "the same: there are no others"),
	OPT_STRS('O', "option", "NAME[=VALUE]", plugin_opts,
		 "fgraph:tailprint, fgraph:depth, ftrace:parent, ftrace:indent, ftrace:offset, "
		 "sym-userobj"),
	OPT_FLAG('w', "wakeup", wakeup,
		 "latency from wake-up to run behind each switch, and a summary"),
	OPT_FLAG(0, "ts-diff", diff, "the time since the event before"),
	OPT_FLAG(0, "ts-check", check, "say where time goes backwards"),
	OPT_FN(0, "ts-offset", "NS", on_time, "add this to the times of the -i FILE before"),
	OPT_FN(0, "ts2secs", "HZ", on_time, "stamps are ticks of a clock of HZ"),
	OPT_FLAG(0, "nodate", no_date, "times of the clock, though recorded with --date"),
	OPT_FLAG(0, "raw-ts", raw_time, "stamps as they were written"),
	OPT_FLAG(0, "align-ts", align, "times from the first event on"),
	OPT_FLAG(0, "boundary", boundaries, "where pages of the ring buffer begin"),
	OPT_STR_C(0, "kallsyms", "FILE", kallsyms, "names of kernel functions from FILE", "@files"),
	OPT_FN_C('V', "verbose", "LEVEL", OPT_ARG_OPTIONAL, on_verbose,
		 "as trace-cmd has it; 0 to 2 mean -q", NULL),
	OPT_FLAG('q', "quiet", quiet, "no warnings"),
	OPT_HEAD("Something else of the file"),
	OPT_FLAG(0, "stat", stat,
		 "what the kernel counted in its buffers, at the end of recording"),
	OPT_FLAG('E', "event-files", events, "the events whose formats are in the file"),
	OPT_FLAG(0, "events", formats, "all formats"),
	OPT_STR(0, "event", "REGEX", print_event, "the formats of these events"),
	OPT_FLAG('f', "functions", functions, "the kernel's functions"),
	OPT_FLAG('P', "printk", printk, "the kernel's printk formats"),
	OPT_FLAG('e', "endian", endian, "its endianness"),
	OPT_FLAG('p', "page-size", page_size, "its page size"),
	OPT_FLAG(0, "cpus", list_cpus, "the CPUs that have events"),
	OPT_FLAG(0, "first-event", first, "the time of each CPU's first event"),
	OPT_FLAG(0, "last-event", last, "the time of each CPU's last event"),
	OPT_FLAG(0, "uname", uname, "the machine it was recorded on"),
	OPT_FLAG(0, "version", version, "the program that recorded it"),
	OPT_FLAG(0, "check-events", check_events, "fail when a format is not understood"),
	OPT_FLAG(0, "profile", profile, "where tasks spent their time, by pairs of events"),
	OPT_STRS('H', "hook", "START,FIELD/END,FIELD", p.hooks,
		 "with --profile: time between these two as well"),
	OPT_FLAG('G', "global-irqs", p.global_irqs, "with --profile: interrupts are of no task"),
	OPT_FLAG(0, "by-comm", p.by_comm, "with --profile: tasks of one name as one"),
	OPT_FLAG('T', "filter-test", test_filters, "only check the filters"),
	OPT_END,
};

static int ftrace_ftrace_report_run(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct out out;
	int r;

	if (argc > 1 || (argc == 1 && a->inputs.n))
		return err_set(e, EINVAL, "what is '%s'? report takes one file, or several -i FILE",
			       argv[argc - 1]);
	if (argc == 1)
		vec_push(&a->inputs, (struct ftrace_report_input){ .path = argv[0] });
	if (!a->inputs.n)
		vec_push(&a->inputs,
			 (struct ftrace_report_input){ .path = ftrace_input_path(NULL) });
	out_init(&out, STDOUT_FILENO);
	r = ftrace_report_run(a, &out, e);
	out_flush(&out);
	if (r >= 0 && out.error && out.error != EPIPE)
		r = err_set(e, out.error, "cannot write the output: %s", strerror(out.error));
	out_free(&out);
	return r;
}

static void ftrace_report_drop(void *args)
{
	args_t *a = args;

	vec_free(&a->inputs);
	vec_free(&a->filters);
	vec_free(&a->raw_events);
	vec_free(&a->plain_events);
	vec_free(&a->plugin_opts);
	vec_free(&a->p.hooks);
	free(a->cpus);
	free(a->pids);
	free(a->comms);
}

static const struct example examples[] = {
	{ "ftrace report", "all events of trace.dat" },
	{ "ftrace report -l -F 'sched_switch:next_prio < 100'", "switches to real-time tasks" },
	{ "ftrace report -v -F function", "everything but function calls" },
	{ "ftrace report -w --cpu 0", "wake-up latencies of one CPU" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_report = {
	.name = "report",
	.group = "ftrace",
	.summary = "show a trace.dat event by event",
	.usage = "[-i FILE] [OPTIONS] [FILE]",
	.about = "Prints the events of a trace.dat in the layout of trace-cmd report. kymo script, "
		 "report, flame and heat read such files, too.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(args_t),
	.run = ftrace_ftrace_report_run,
	.drop = ftrace_report_drop,
};
