/* SPDX-License-Identifier: MIT */
/*
 * kymo probe: dynamic events in the kernel and in programs, with perf probe's
 * grammar. Events it adds stay until they are removed, as perf's do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/accept.h"
#include "cmd/command.h"
#include "cmd/probe.h"
#include "cmd/uprobe_where.h"
#include "kern/probe_events.h"
#include "kern/tracefs.h"

struct args {
	struct probe_opts o;
	VEC(const char *) add, define, remove, lines, vars;
	bool list, functions;
	const char *list_filter, *functions_filter, *target_ns;
};

#define COLLECT(field)                                                                         \
	static int add_##field(const struct opt *o, const char *value, bool unset, void *args, \
			       struct err *e)                                                  \
	{                                                                                      \
		struct args *a = args;                                                         \
                                                                                               \
		(void)o;                                                                       \
		(void)e;                                                                       \
		if (!unset)                                                                    \
			vec_push(&a->field, value);                                            \
		return 0;                                                                      \
	}
COLLECT(add)
COLLECT(define)
COLLECT(remove)
COLLECT(lines)
COLLECT(vars)

static int set_list(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	struct args *a = args;

	(void)o;
	(void)e;
	a->list = !unset;
	a->list_filter = value;
	return 0;
}

static int set_functions(const struct opt *o, const char *value, bool unset, void *args,
			 struct err *e)
{
	struct args *a = args;

	(void)o;
	(void)e;
	a->functions = !unset;
	a->functions_filter = value;
	return 0;
}

static const struct opt opts[] = {
	OPT_HEAD("What to do (without any of these: add what is given)"),
	OPT_FN('a', "add", "PROBE", add_add, "add an event"),
	OPT_FN_C('d', "del", "[GROUP:]EVENT", OPT_ARG_REQUIRED, add_remove,
		 "remove events, patterns too", "@probes"),
	OPT_FN_C('l', "list", "PATTERN", OPT_ARG_LAST, set_list, "show the events that were added",
		 "@probes"),
	OPT_FN('D', "definition", "PROBE", add_define,
	       "show what the kernel would be told, and add nothing"),
	OPT_FN('L', "line", "FUNC[:LINES]|SRC:LINES", add_lines,
	       "show source lines; those with a number can be probed"),
	OPT_FN('V', "vars", "PROBE", add_vars, "show the variables that can be fetched there"),
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

/* --- adding --- */

struct adding {
	const struct probe_opts *o;
	const struct probe_target *t;
	const char *root; /* of tracefs; NULL: nothing is written */
	struct probe_events have;
	struct arena arena;
	const char *last; /* "group:event" that was added */
	unsigned n;
};

/* A name nobody has: the one given, or with _1, _2 ... behind it where that is allowed. */
static int free_name(struct adding *a, struct probe_def *d, bool again, struct err *e)
{
	const char *base = d->event;

	if (!probe_events_has(&a->have, d->group, base))
		return 0;
	if (!again && !a->o->force) {
		err_set(e, EEXIST, "there is an event %s:%s already", d->group, base);
		return err_hint(e,
				"remove it (kymo probe -d %s:%s), give another name "
				"(NEW=...), or add it again with -f",
				d->group, base);
	}
	for (int i = 1; i < 1024; i++) {
		d->event = arena_printf(&a->arena, "%s_%d", base, i);
		if (!probe_events_has(&a->have, d->group, d->event))
			return 0;
	}
	return err_set(e, EEXIST, "too many events are called %s", base);
}

/* " with n len": the names of the arguments. */
static void arg_names(const char *args, struct strbuf *out)
{
	unsigned n = 0;

	while (*args) {
		const char *s = args + strspn(args, " "), *end = s + strcspn(s, " ");

		if (end > s) {
			strbuf_puts(out, n++ ? " " : " with ");
			strbuf_add(out, s, strcspn(s, "=: "));
		}
		args = end;
	}
}

static void say_added(struct adding *a, const struct probe_text *p, const struct probe_def *d)
{
	AUTO_FREE char *name = mem_printf("%s:%s", d->group, d->event);
	AUTO_STRBUF with = { 0 };
	const char *point = strchr(p->text, '=') && p->event ? strchr(p->text, '=') + 1 : p->text;

	arg_names(d->args, &with);
	if (!a->o->quiet)
		fprintf(stderr, "  %-20s (on %.*s%s%s%s)\n", name, (int)strcspn(point, " "), point,
			a->t->user ? " in " : "", a->t->user ? a->t->path : "", strbuf_str(&with));
	a->last = arena_strdup(&a->arena, name);
}

static int add_one(struct adding *a, const struct probe_text *p, struct probe_def *d, bool again,
		   struct err *e)
{
	AUTO_STRBUF line = { 0 };
	int err = free_name(a, d, again, e);

	if (err < 0)
		return err;
	probe_def_text(d, &line);
	if (a->o->verbose)
		fprintf(stderr, "Writing event: %s\n", strbuf_str(&line));
	if (!a->o->dry_run) {
		err = probe_events_add(a->root, a->t->user, strbuf_str(&line), e);
		if (err < 0)
			return err;
	}
	vec_push(&a->have.list, (struct probe_event){ .line = NULL,
						      .group = mem_strdup(d->group),
						      .event = mem_strdup(d->event),
						      .user = a->t->user });
	if (!a->n++ && !a->o->quiet)
		fprintf(stderr, "Added new event%s:\n", again ? "s" : "");
	say_added(a, p, d);
	return 0;
}

static void remove_added(struct adding *a, const struct probe_defs *defs, size_t n)
{
	struct err ignored;

	for (size_t i = 0; i < n && !a->o->dry_run; i++)
		probe_events_remove(a->root, a->t->user, defs->list.data[i].group,
				    defs->list.data[i].event, &ignored);
}

static int define(struct adding *a, char *const *words, size_t n, struct probe_text *p,
		  struct probe_defs *defs, struct err *e)
{
	int err = probe_parse(&a->arena, words, n, p, e);

	if (err == 0)
		err = probe_define(a->t, p, &a->arena, defs, e);
	if (err == 0 && defs->list.n > (size_t)a->o->max_probes) {
		err_set(e, E2BIG, "%s means %zu places", p->text, defs->list.n);
		err = err_hint(e, "say --max-probes %zu if you want them all", defs->list.n);
	}
	vec_each (&defs->notes, note)
		command_note("%s", *note);
	return err;
}

/* All places of a probe, or none. */
static int add(struct adding *a, char *const *words, size_t n, struct err *e)
{
	struct probe_defs defs = { 0 };
	struct probe_text p = { 0 };
	int err = define(a, words, n, &p, &defs, e);

	for (size_t i = 0; i < defs.list.n && err == 0; i++) {
		err = add_one(a, &p, &defs.list.data[i], i > 0 || defs.list.n > 1, e);
		if (err < 0)
			remove_added(a, &defs, i);
	}
	probe_defs_free(&defs);
	probe_text_free(&p);
	return err;
}

/* "ftrace.event.kprobes.NAME.probes = 'PLACE ARGS', ...": all places are one event there. */
static void print_bootconfig(const struct probe_text *p, const struct probe_defs *defs)
{
	if (p->group)
		command_note("the group %s is left out: at boot all are in kprobes", p->group);
	printf("ftrace.event.kprobes.%s.probes =", defs->list.data[0].event);
	vec_each (&defs->list, d)
		printf("%s '%s%s%s'", d == defs->list.data ? "" : ",", d->place,
		       d->ret ? "%return" : "", d->args);
	putchar('\n');
}

static int show_definition(struct adding *a, const char *text, struct err *e)
{
	struct probe_defs defs = { 0 };
	struct probe_text p = { 0 };
	char *word = (char *)text;
	int err = define(a, &word, 1, &p, &defs, e);

	if (err == 0 && a->o->bootconfig && defs.list.n)
		print_bootconfig(&p, &defs);
	else if (err == 0)
		vec_each (&defs.list, d) {
			AUTO_STRBUF line = { 0 };

			probe_def_text(d, &line);
			puts(strbuf_str(&line));
		}
	probe_defs_free(&defs);
	probe_text_free(&p);
	return err;
}

static void say_next(const struct adding *a)
{
	if (!a->last || a->o->quiet)
		return;
	fprintf(stderr,
		"\nYou can now use it in all kymo's commands, such as:\n\n\tkymo record -e %s -a "
		"sleep 1\n\n",
		a->last);
}

/* Several quoted definitions, or one whose words the shell took apart. */
static int add_words(struct adding *a, int argc, char **argv, struct err *e)
{
	int err = 0;

	if (argc > 1 && !strchr(argv[0], ' '))
		return add(a, argv, (size_t)argc, e);
	for (int i = 0; i < argc && err == 0; i++)
		err = add(a, argv + i, 1, e);
	return err;
}

static int add_all(const struct args *args, int argc, char **argv, struct err *e)
{
	struct probe_target t;
	struct adding a = { .o = &args->o, .t = &t };
	int err = probe_target_open(&args->o.target, &t, e);

	if (err < 0)
		return err;
	if ((args->add.n || argc) && t.foreign && !args->o.dry_run) {
		err_set(e, ESTALE, "%s is not the running kernel's (another build-id)",
			args->o.target.vmlinux);
		err = err_hint(e, "-D shows what that kernel would have to be told");
	} else if (args->add.n || argc) {
		a.root = tracefs_find(args->o.dry_run ? NULL : e);
		if (a.root)
			err = probe_events_read(a.root, &a.have, args->o.dry_run ? NULL : e);
		else if (!args->o.dry_run)
			err = -e->code;
		if (args->o.dry_run)
			err = 0;
	}
	for (size_t i = 0; i < args->define.n && err == 0; i++)
		err = show_definition(&a, args->define.data[i], e);
	for (size_t i = 0; i < args->add.n && err == 0; i++) {
		char *word = (char *)args->add.data[i];

		err = add(&a, &word, 1, e);
	}
	if (err == 0)
		err = add_words(&a, argc, argv, e);
	if (err == 0)
		say_next(&a);
	probe_events_free(&a.have);
	arena_free(&a.arena);
	probe_target_close(&t);
	return err;
}

/* --- removing --- */

static bool named(const char *pattern, const struct probe_event *p)
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
		if (err < 0 || !named(pattern, p))
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

static int run(void *opaque, int argc, char **argv, struct err *e)
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
		err = remove_events(a, a->remove.data[i], e);
	if (err == 0 && a->list)
		err = probe_show_list(&a->o, a->list_filter, e);
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
		return add_all(a, argc, argv, e);
	if (a->remove.n || a->list || a->lines.n || a->vars.n || a->functions)
		return 0;
	err_set(e, EINVAL, "what should be probed?");
	return err_hint(e,
			"kymo probe 'FUNC ARGS' for the kernel, kymo probe -x FILE 'FUNC ARGS' for "
			"a program; -F lists functions, kymo probe -h says more");
}

static void drop(void *opaque)
{
	struct args *a = opaque;

	vec_free(&a->add);
	vec_free(&a->define);
	vec_free(&a->remove);
	vec_free(&a->lines);
	vec_free(&a->vars);
}

static const struct args defaults = { .o = { .max_probes = 128, .demangle = true } };

static const struct example examples[] = {
	{ "probe tcp_sendmsg", "an event at the start of a kernel function" },
	{ "probe 'tcp_sendmsg size sk->__sk_common.skc_state'",
	  "with parameters, by the kernel's BTF" },
	{ "probe 'vfs_read%return $retval'", "what it gives back" },
	{ "probe -x /bin/bash 'readline%return +0($retval):string'", "in a program" },
	{ "probe -x ./app 'parse:14 line buf->len'", "at a line, with local variables (needs -g)" },
	{ "probe -x ./app -L parse", "which lines can be probed" },
	{ "probe -x ./app -V parse:14", "which variables there are" },
	{ "probe --bootconfig -D 'vfs_read count'", "for the kernel's boot configuration" },
	{ "probe -l", "what was added" },
	{ "probe -d 'probe_app:*'", "remove it" },
	{ NULL, NULL },
};

const struct command cmd_probe = {
	.name = "probe",
	.group = "Trace",
	.summary = "add events at any function or line of the kernel and of programs",
	.usage = "[OPTIONS] 'PROBE'",
	.about =
		"PROBE is [[GROUP:]EVENT=]FUNC[@SRC][:LINE|+OFFSET|%return|;PATTERN] [ARG ...], or "
		"SRC:LINE. ARG is [NAME=]VALUE[:TYPE]: a variable with its fields (sk->a.b[2]), "
		"$vars, $params, $retval, a register (%di), memory (+8(%di)), $comm. The events "
		"work in record, stat, script, top and report, and stay until they are removed.",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(struct args),
	.defaults = &defaults,
	.run = run,
	.drop = drop,
};
