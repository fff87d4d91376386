/* SPDX-License-Identifier: MIT */
/* kymo tpoint, kprobe, uprobe: events one by one as the kernel words them. */
#include <string.h>

#include "base/file.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/probe/functool.h"
#include "cmd/probe/probe.h"
#include "event/match.h"
#include "kern/tracefs.h"

struct args {
	struct functool ft; /* first */
	bool list;
};

#define EVENT_OPTS(whose)                                                  \
	FUNCTOOL_OPTS, OPT_FLAG('s', "stacks", ft.stack, whose " stacks"), \
		OPT_FLAG('v', "view", ft.view, "only show the event's format")

/* --- tpoint --- */

static const struct opt tpoint_opts[] = {
	EVENT_OPTS("kernel"),
	OPT_FLAG('l', "list", list, "list the tracepoints"),
	OPT_END,
};

static int view(const char *name, struct err *e)
{
	const char *root = ftrace_root(e);
	AUTO_FREE char *event = mem_strdup(name), *path = NULL;
	char *colon = strchr(event, ':');

	if (!root)
		return -ENOENT;
	if (colon)
		*colon = '/';
	path = mem_printf("%s/events/%s/format", root, event);
	if (access(path, F_OK) < 0) {
		err_set(e, ENOENT, "there is no tracepoint '%s'", name);
		return err_hint(e, "kymo tpoint -l lists them");
	}
	return ftrace_print_file(path, e);
}

static int tpoint_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;

	if (a->list) {
		const char *root = ftrace_root(e);
		struct file_names all = { 0 };
		int r = root ? tracefs_all(root, NULL, &all, e) : -ENOENT;

		for (size_t i = 0; r >= 0 && i < all.n; i++)
			if (!argc || match_name(argv[0], all.name[i]) ||
			    strstr(all.name[i], argv[0]))
				puts(all.name[i]);
		file_names_free(&all);
		return r;
	}
	if (argc < 1 || argc > 2) {
		err_set(e, EINVAL,
			argc ? "tpoint takes a tracepoint and a filter" : "which tracepoint?");
		return err_hint(e, "for instance: kymo tpoint block:block_rq_insert");
	}
	if (a->ft.view)
		return view(argv[0], e);
	snprintf(a->ft.what, sizeof(a->ft.what), "%s", argv[0]);
	functool_event(&a->ft, argv[0], argc > 1 ? argv[1] : NULL);
	return functool_run(&a->ft, e);
}

const struct command cmd_tpoint = {
	FUNCTOOL_COMMAND(tpoint),
	.summary = "hits of a tracepoint, one by one",
	.usage = "[OPTIONS] SYSTEM:EVENT [FILTER]",
	.examples = EXAMPLES(
		{ "tpoint block:block_rq_insert", "every request as it is queued" },
		{ "tpoint -s block:block_rq_insert 'rwbs ~ \"*W*\"'",
		  "writes, with kernel stacks" },
		{ "tpoint -H -p 1234 syscalls:sys_enter_openat", "of one process, with headings" },
		{ "tpoint -l sched", "which are there?" }),
	.complete = "@events",
};

/* --- kprobe --- */

static const struct opt kprobe_opts[] = {
	EVENT_OPTS("kernel"),
	OPT_FLAG('F', "force", ft.force, "perf-tools has it; kymo checks nothing it would skip"),
	OPT_END,
};

/* The event is gone by the time a hint could be followed: its fields are those of the definition.
 */
static void hint_fields(const char *group, const char *filter, struct err *e)
{
	char *list = strstr(e->hint, "kymo list -v "); /* behind "did you mean x? " */

	if (!filter || !list || !strstr(list, group))
		return;
	*list = '\0';
	if (strchr(filter, '$'))
		err_hint(e, "give the argument a name for the filter: 'r:myopen do_sys_openat2 "
			    "ret=$retval' 'ret < 0'");
	else
		snprintf(list, sizeof(e->hint) - (size_t)(list - e->hint),
			 "-v shows the fields of the probe");
}

static int probe(struct args *a, const char *definition, const char *filter, bool user,
		 struct err *e)
{
	AUTO_FREE char *group = mem_printf("kymo_%ld", (long)getpid());
	AUTO_FREE char *name = NULL;
	int r = raw_probe_parse(definition, group, &a->ft.probe, e);

	if (r < 0)
		return r;
	a->ft.has_probe = true;
	a->ft.user_probe = user;
	snprintf(a->ft.what, sizeof(a->ft.what), "%s %s", user ? "uprobe" : "kprobe",
		 a->ft.probe.name);
	name = mem_printf("%s:%s", a->ft.probe.group, a->ft.probe.name);
	functool_event(&a->ft, name, filter);
	r = functool_run(&a->ft, e);
	if (r < 0)
		hint_fields(group, filter, e);
	return r;
}

static int kprobe_run(void *args, int argc, char **argv, struct err *e)
{
	if (argc < 1 || argc > 2) {
		err_set(e, EINVAL, argc ? "kprobe takes a probe and a filter" : "which probe?");
		return err_hint(e, "for instance: kymo kprobe 'p:myopen do_sys_openat2 "
				   "filename=+0(%%si):string'");
	}
	return probe(args, argv[0], argc > 1 ? argv[1] : NULL, false, e);
}

const struct command cmd_kprobe = {
	FUNCTOOL_COMMAND(kprobe),
	.summary = "a probe in the kernel, by its raw definition",
	.usage = "[OPTIONS] DEFINITION [FILTER]",
	.about = "DEFINITION is what kprobe_events takes: p[:NAME] FUNCTION[+OFFSET] [ARGUMENTS], "
		 "or r for the return. The probe is removed at the end.",
	.examples = EXAMPLES(
		{ "kprobe p:do_sys_openat2", "calls of a kernel function" },
		{ "kprobe 'p:myopen do_sys_openat2 filename=+0(%si):string'", "with an argument" },
		{ "kprobe 'r:do_sys_openat2 $retval'", "and what it returns" },
		{ "kprobe -s 'p:mysub submit_bio'", "with kernel stacks" },
		{ "kprobe 'p:myopen do_sys_openat2 f=+0(%si):string' 'f ~ \"*stat\"'",
		  "filtered" }),
};

/* --- uprobe --- */

static const struct opt uprobe_opts[] = {
	EVENT_OPTS("user"),
	OPT_FLAG('l', "list", list, "list the functions of a program or library"),
	OPT_FLAG('F', "force", ft.force, "perf-tools has it; kymo checks nothing it would skip"),
	OPT_END,
};

static int uprobe_run(void *args, int argc, char **argv, struct err *e)
{
	struct args *a = args;
	AUTO_FREE char *definition = NULL;
	int r;

	if (argc < 1 || argc > 2) {
		err_set(e, EINVAL, argc ? "uprobe takes a probe and a filter" : "which probe?");
		return err_hint(e, "for instance: kymo uprobe p:bash:readline");
	}
	if (a->list)
		return uprobe_list(argv[0], argc > 1 ? argv[1] : NULL, e);
	r = uprobe_definition(argv[0], &definition, e);
	return r < 0 ? r : probe(a, definition, argc > 1 ? argv[1] : NULL, true, e);
}

const struct command cmd_uprobe = {
	FUNCTOOL_COMMAND(uprobe),
	.summary = "a probe in a program or library, by its raw definition",
	.usage = "[OPTIONS] DEFINITION [FILTER] | -l FILE [PATTERN]",
	.about = "DEFINITION is p:TARGET:SYMBOL, p:NAME TARGET:SYMBOL or what uprobe_events takes, "
		 "and arguments; r for the return. TARGET is a path, a program in PATH, or a "
		 "library's name (libc). The probe is removed at the end.",
	.examples =
		EXAMPLES({ "uprobe p:bash:readline", "calls of a function in any bash" },
			 { "uprobe 'r:bash:readline +0($retval):string'", "and what it returns" },
			 { "uprobe 'p:open libc:open64 +0(%di):string'",
			   "of the C library, with an argument" },
			 { "uprobe -p 1234 p:libc:gettimeofday", "of one process" },
			 { "uprobe -l bash 'read*'", "which functions has it?" }),
};
