/* SPDX-License-Identifier: MIT */
/* kymo ftrace: the kernel's own tracers, with trace-cmd's verbs. */
#include "cmd/ftrace/ftrace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/share/open.h"
#include "store/tracedat/abi.h"

int ftrace_for_root(struct err *e)
{
	if (geteuid() == 0)
		return 0;
	err_set(e, EPERM, "this is for root");
	return err_hint(e, "run it with sudo");
}

/* Does it come from there, through a pipe or as a file? */
static bool from_stdin(void)
{
	char start[TRACEDAT_MAGIC_SIZE];
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0)
		return false;
	return S_ISFIFO(st.st_mode) ||
	       (S_ISREG(st.st_mode) &&
		pread(STDIN_FILENO, start, sizeof(start), 0) == sizeof(start) &&
		memcmp(start, TRACEDAT_MAGIC, sizeof(start)) == 0);
}

const char *ftrace_input_path(const char *path)
{
	return path ? path : from_stdin() ? "-" : "trace.dat";
}

int ftrace_input(const char *path, struct source **ret, struct err *e)
{
	const char *from = ftrace_input_path(path);
	struct source *s;
	int r = source_open(from, &s, e);

	if (r == -ENOENT)
		err_hint(e, "kymo ftrace record makes one; -i FILE reads another");
	if (r < 0)
		return r;
	if (strcmp(s->format, "trace.dat") == 0) {
		*ret = s;
		return 0;
	}
	err_set(e, EINVAL, "%s is no trace.dat file", source_name(from));
	source_close(s);
	return err_hint(e, "kymo script and kymo report show recordings of other kinds");
}

static const struct command *const verbs[] = {
	&cmd_ftrace_record,  &cmd_ftrace_report,   &cmd_ftrace_start,
	&cmd_ftrace_stop,    &cmd_ftrace_restart,  &cmd_ftrace_show,
	&cmd_ftrace_stat,    &cmd_ftrace_extract,  &cmd_ftrace_stream,
	&cmd_ftrace_profile, &cmd_ftrace_hist,	   &cmd_ftrace_mem,
	&cmd_ftrace_split,   &cmd_ftrace_restore,  &cmd_ftrace_list,
	&cmd_ftrace_options, &cmd_ftrace_snapshot, &cmd_ftrace_set,
	&cmd_ftrace_clear,   &cmd_ftrace_reset,	   &cmd_ftrace_check_events,
	&cmd_ftrace_stack,   &cmd_ftrace_mark,	   &cmd_ftrace_convert,
	&cmd_ftrace_dump,    &cmd_ftrace_trace,	   NULL,
};

static int ftrace_run(void *args, int argc, char **argv, struct err *e)
{
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
	.about = "The verbs and options of trace-cmd. Recording uses an instance of its own, and "
		 "puts "
		 "everything back that it changed.",
	.examples = examples,
	.parse = OPT_STOP_AT_ARG,
	.subs = verbs,
	.run = ftrace_run,
};
