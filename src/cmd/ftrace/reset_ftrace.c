/* SPDX-License-Identifier: MIT */
/* kymo reset-ftrace: all tracing on this machine to rest, whoever left it. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "live/ftrace/ftrace.h"

struct args {
	bool force, quiet;
};

static const struct opt opts[] = {
	OPT_FLAG('f', "force", force, "although a kymo is tracing now"),
	OPT_FLAG('q', "quiet", quiet, "say nothing but errors"),
	OPT_END,
};

/* Journals of processes that still run. */
static long running(void)
{
	struct file_names names = { 0 };
	long pid = 0;

	if (file_list("/run/kymo", &names) == 0)
		for (size_t i = 0; i < names.n; i++) {
			char *dot = strchr(names.name[i], '.');
			long one = dot ? strtol(names.name[i], NULL, 10) : 0;

			if (one > 0 && one != (long)getpid() && kill((pid_t)one, 0) == 0)
				pid = one;
		}
	file_names_free(&names);
	return pid;
}

static int reset_ftrace_run(void *args, int argc, char **argv, struct err *e)
{
	const struct args *a = args;
	const char *root = ftrace_root(e);
	long busy = running();
	int r;

	if (argc)
		return err_set(e, EINVAL, "what is '%s'? reset-ftrace takes options only", argv[0]);
	if (!root)
		return -ENOENT;
	if (ftrace_for_root(e) < 0)
		return -EPERM;
	if (busy && !a->force) {
		err_set(e, EBUSY, "kymo is tracing, as process %ld", busy);
		return err_hint(e, "end it with kill %ld, or add -f", busy);
	}
	ftrace_reset_kept(root);
	r = ftrace_reset_dir(root, e);
	if (r >= 0)
		r = ftrace_reset_put(root, "kprobe_events", "", e);
	if (r >= 0)
		r = ftrace_reset_put(root, "uprobe_events", "", e);
	if (r >= 0 && !a->quiet)
		puts("no tracer, no events, no filters, no probes: ftrace is at rest");
	return r < 0 ? r : 0;
}

static const struct example examples[] = {
	{ "reset-ftrace", "put all tracing to rest" },
	{ NULL, NULL },
};

const struct command cmd_reset_ftrace = {
	.name = "reset-ftrace",
	.group = "Trace",
	.summary = "put all tracing on this machine to rest",
	.usage = "[-f] [-q]",
	.about = "Removes tracers, events, filters, triggers and probes of the top instance, "
		 "whoever set "
		 "them. kymo needs it only after what others left: its own settings come back by "
		 "themselves.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.run = reset_ftrace_run,
};
