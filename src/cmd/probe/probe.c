/* SPDX-License-Identifier: MIT */
/*
 * kymo probe: dynamic events in the kernel and in programs, with perf probe's
 * grammar. Events it adds stay until they are removed, as perf's do.
 */
#include <string.h>

#include "base/file.h"
#include "cmd/command.h"
#include "cmd/probe/probe.h"
#include "cmd/share/accept.h"
#include "kern/probe_events.h"
#include "kern/tracefs.h"

struct args {
	struct probe_opts o;
	struct vec_strs add, define, remove, lines, vars;
	bool list, functions;
	const char *list_filter, *functions_filter, *target_ns;
};

static int set_list(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	a->list = !unset;
	a->list_filter = value;
	return 0;
}

static int set_functions(const struct opt *o, const char *value, bool unset, void *args,
			 struct err *e)
{
	struct args *a = args;

	a->functions = !unset;
	a->functions_filter = value;
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("What to do (without any of these: add what is given)"),
	OPT_STRS('a', "add", "PROBE", add, "add an event"),
	OPT_STRS_C('d', "del", "[GROUP:]EVENT", remove, "remove events, patterns too", "@probes"),
	OPT_FN_C('l', "list", "PATTERN", OPT_ARG_LAST, set_list, "show the events that were added",
		 "@probes"),
	OPT_STRS('D', "definition", "PROBE", define,
		 "show what the kernel would be told, and add nothing"),
	OPT_STRS('L', "line", "FUNC[:LINES]|SRC:LINES", lines,
		 "show source lines; those with a number can be probed"),
	OPT_STRS('V', "vars", "PROBE", vars, "show the variables that can be fetched there"),
	OPT_FN_C('F', "funcs", "PATTERN", OPT_ARG_LAST, set_functions,
		 "show the functions that can be probed", NULL),
	OPT_HEAD("Where"),
	OPT_STR_C('x', "exec", "FILE", o.target.exec, "in a program or library", "@files"),
	OPT_STR('m', "module", "MODULE", o.target.module,
		"in a module of the kernel (name or .ko)"),
	OPT_STR_C('k', "vmlinux", "FILE", o.target.vmlinux, "the kernel's file with debug info",
		  "@files"),
	OPT_STR_C('s', "source", "DIR", o.target.source, "where source files are", "@dirs"),
	OPT_STR_C(0, "symfs", "DIR", o.target.symfs, "look for files below DIR", "@dirs"),
	OPT_STR(0, "target-ns", "PID", target_ns,
		"the file of -x as this process (of a container) sees it"),
	OPT_FLAG(0, "no-debuginfod", o.target.no_debuginfod, "do not ask debuginfod servers"),
	OPT_HEAD("How"),
	OPT_FLAG(0, "cache", o.cache,
		 "keep what is added in the build-id cache, and take it from there; with -l and "
		 "-d: what is kept"),
	OPT_FLAG('n', "dry-run", o.dry_run, "do everything but the adding"),
	OPT_FLAG(0, "bootconfig", o.bootconfig,
		 "with -D: as the kernel's boot configuration has it, to trace from its start on"),
	OPT_FLAG('f', "force", o.force, "add an event again under a name of its own"),
	OPT_FLAG(0, "externs", o.externs, "with -V: global variables too"),
	OPT_FLAG(0, "range", o.range, "with -V: where in the function each is known"),
	OPT_STR(0, "filter", "[!]PATTERN", o.filter,
		"with -V and -F: only these names; | & ! join them"),
	OPT_FLAG(0, "no-inlines", o.target.no_inlines,
		 "only functions, not where they were inlined"),
	OPT_FLAG(0, "demangle", o.demangle, "C++ and Rust names as they were written (default)"),
	OPT_ACCEPTED(0, "demangle-kernel"),
	OPT_INT(0, "max-probes", "N", o.max_probes,
		"at most N events for one probe (default: 128)"),
	OPT_FLAG('q', "quiet", o.quiet, "say nothing when it works"),
	OPT_COUNT('v', "verbose", o.verbose, "show what the kernel is told"),
	OPT_END,
};

/* --- removing --- */

static bool probe_named(const char *pattern, const struct probe_event *p)
{
	const char *colon = strchr(pattern, ':');
	AUTO_FREE char *group = colon ? mem_strndup(pattern, (size_t)(colon - pattern)) : NULL;

	return str_glob(colon ? colon + 1 : pattern, p->event) &&
	       (!group || str_glob(group, p->group));
}

static int remove_events(const struct args *args, const char *pattern, struct err *e)
{
	const char *root = tracefs_find(e);
	struct probe_events have;
	unsigned n = 0;
	int err;

	if (!root)
		return -e->code;
	err = probe_events_read(root, &have, e);
	if (err < 0)
		return err;
	vec_each (&have.list, p) {
		if (err < 0 || !probe_named(pattern, p))
			continue;
		n++;
		if (!args->o.dry_run)
			err = probe_events_remove(root, p->user, p->group, p->event, e);
		if (err == 0 && !args->o.quiet)
			fprintf(stderr, "Removed event: %s:%s\n", p->group, p->event);
	}
	if (err == 0 && n == 0) {
		struct str_nearest near = { .typed = strchr(pattern, ':') ? strchr(pattern, ':') + 1
									  : pattern };
		char list[200];

		vec_each (&have.list, p)
			str_nearest_add(&near, p->event);
		err = err_set(e, ENOENT, "no probe is called %s", pattern);
		if (str_nearest_list(&near, list, sizeof(list)))
			err_hint(e, "did you mean %s?", list);
		else
			err_hint(e, "kymo probe -l lists them");
	}
	probe_events_free(&have);
	return err;
}

/* "libc" is a library of this machine, as with kymo uprobe; NULL when it is a path already. */
static char *by_short_name(const struct probe_target_opts *t)
{
	struct err ignored = { 0 };
	char *path = NULL;

	if (!t->exec || t->symfs || strchr(t->exec, '/') || file_exists(t->exec) ||
	    uprobe_path(t->exec, &path, &ignored) < 0)
		return NULL;
	return path;
}

static int probe_run(void *opaque, int argc, char **argv, struct err *e)
{
	struct args *a = opaque;
	AUTO_FREE char *inside = NULL;
	AUTO_FREE char *found = NULL;
	int err = 0;

	found = by_short_name(&a->o.target);
	if (found)
		a->o.target.exec = found;
	if (a->target_ns) {
		uint64_t pid;

		if (!str_u64(a->target_ns, &pid) || !a->o.target.exec || *a->o.target.exec != '/')
			return err_set(e, EINVAL,
				       "--target-ns wants a process id, and -x with a whole path");
		inside = mem_printf("/proc/%s/root%s", a->target_ns, a->o.target.exec);
		a->o.target.exec = inside;
	}
	if (a->o.target.exec && (a->o.target.module || a->o.target.vmlinux))
		return err_set(e, EINVAL, "-x is for programs, -m and -k for the kernel: give one");
	if (a->o.bootconfig && (a->o.target.exec || !a->define.n || a->add.n || argc))
		return err_set(e, EINVAL,
			       a->o.target.exec
				       ? "--bootconfig is for probes of the kernel: programs "
					 "cannot be probed while it starts"
				       : "--bootconfig only shows definitions: give them with -D");
	for (size_t i = 0; i < a->remove.n && err == 0; i++)
		err = a->o.cache ? probe_cache_remove(&a->o, a->remove.data[i], e)
				 : remove_events(a, a->remove.data[i], e);
	if (err == 0 && a->list)
		err = a->o.cache ? probe_cache_list(a->list_filter, e)
				 : probe_show_list(&a->o, a->list_filter, e);
	for (size_t i = 0; i < a->lines.n && err == 0; i++)
		err = probe_show_lines(&a->o, a->lines.data[i], e);
	for (size_t i = 0; i < a->vars.n && err == 0; i++)
		err = probe_show_vars(&a->o, a->vars.data[i], e);
	if (err == 0 && a->functions)
		err = probe_show_functions(
			&a->o, a->functions_filter ? a->functions_filter : a->o.filter, e);
	if (err < 0)
		return err;
	if (a->add.n || a->define.n || argc)
		return probe_add_all(&a->o, &a->define, &a->add, argc, argv, e);
	if (a->remove.n || a->list || a->lines.n || a->vars.n || a->functions)
		return 0;
	err_set(e, EINVAL, "what should be probed?");
	return err_hint(e, "kymo probe 'FUNC ARGS' for the kernel, kymo probe -x FILE 'FUNC ARGS' "
			   "for a program; -F lists functions, kymo probe -h says more");
}

static void probe_drop(void *opaque)
{
	struct args *a = opaque;

	vec_free(&a->add);
	vec_free(&a->define);
	vec_free(&a->remove);
	vec_free(&a->lines);
	vec_free(&a->vars);
}

static const struct args defaults = { .o = { .max_probes = 128, .demangle = true } };

const struct command cmd_probe = {
	.name = "probe",
	.group = "Trace",
	.summary = "add events at any function or line of the kernel and of programs",
	.usage = "[OPTIONS] 'PROBE'",
	.about = "PROBE is [[GROUP:]EVENT=]FUNC[@SRC][:LINE|+OFFSET|%return|;PATTERN] [ARG ...], "
		 "SRC:LINE, or %[PROVIDER:]NAME of a static or kept probe. ARG is "
		 "[NAME=]VALUE[:TYPE]: a variable with its fields (sk->a.b[2]), $vars, $params, "
		 "$retval, a register (%di), memory (+8(%di)), $comm. The events work in record, "
		 "stat, script, top and report, and stay until they are removed.",
	.examples = EXAMPLES(
		{ "probe tcp_sendmsg", "an event at the start of a kernel function" },
		{ "probe 'tcp_sendmsg size sk->__sk_common.skc_state'",
		  "with parameters, by the kernel's BTF" },
		{ "probe 'vfs_read%return $retval'", "what it gives back" },
		{ "probe -x /bin/bash 'readline%return +0($retval):string'", "in a program" },
		{ "probe -x ./app 'parse:14 line buf->len'",
		  "at a line, with local variables (needs -g)" },
		{ "probe -x ./app -L parse", "which lines can be probed" },
		{ "probe -x ./app -V parse:14", "which variables there are" },
		{ "probe --bootconfig -D 'vfs_read count'", "for the kernel's boot configuration" },
		{ "probe -x ./app '%sdt_app:*'", "all static probes of a provider" },
		{ "probe --cache -x ./app 'hot=parse:14 len'", "kept, to be had again as %hot" },
		{ "probe -l", "what was added" }, { "probe -d 'probe_app:*'", "remove it" }),
	.defaults = &defaults,
	COMMAND_USUAL(probe),
	.drop = probe_drop,
};
