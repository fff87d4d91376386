/* SPDX-License-Identifier: MIT */
/* kymo ftrace: the kernel's own tracers, with trace-cmd's verbs. */
#include "cmd/ftrace.h"

static const struct command *const verbs[] = {
	&cmd_ftrace_record,
	&cmd_ftrace_report,
	NULL,
};

static int run(void *args, int argc, char **argv, struct err *e)
{
	(void)args;
	if (argc > 0) {
		err_set(e, EINVAL, "ftrace has no verb '%s'", argv[0]);
		return err_hint(e, "kymo ftrace -h lists them");
	}
	help_command(stdout, &cmd_ftrace, "ftrace");
	return 0;
}

static const struct example examples[] = {
	{ "ftrace record -e sched sleep 1", "trace scheduling for a second ..." },
	{ "ftrace report", "... and show it" },
	{ NULL, NULL },
};

const struct command cmd_ftrace = {
	.name = "ftrace",
	.group = "Trace",
	.summary = "trace kernel functions and events with ftrace; trace.dat files",
	.usage = "VERB [OPTIONS]",
	.about = "The verbs and options of trace-cmd. Recording uses an instance of its own, and puts "
		 "everything back that it changed.",
	.examples = examples,
	.parse = OPT_STOP_AT_ARG,
	.subs = verbs,
	.run = run,
};
