/* SPDX-License-Identifier: MIT */
/* kymo ftrace start, set, stop, restart, clear, reset, snapshot, stack, mark: tracing that outlives
 * the command. */
#define OPT_ARGS struct control_args
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "kern/undo.h"

struct control_args {
	struct ftrace_args t;
	const char *buffer, *cpu;
	bool all, top, take, reset, free_it, start, stop, fork;
	uint64_t size_kb;
	struct vec_strs buffers;
};

typedef struct control_args args_t;

static void ftrace_control_drop(void *args)
{
	args_t *a = args;

	ftrace_args_free(&a->t);
	vec_free(&a->buffers);
}

/* --- start, set --- */

static const struct opt start_opts[] = {
	FTRACE_OPTS,
	FTRACE_COMMAND_OPTS,
	OPT_FLAG(0, "fork", fork, "do not wait for the command"),
	OPT_ACCEPTED(0, "stderr"),
	FTRACE_NO_FILE_OPTS,
	OPT_END,
};

/* Run it now that it is traced, to its end unless --fork. */
static int run_command(args_t *a, struct ftrace_wait *w, char **command, struct err *e)
{
	int r;

	if (!command)
		return 0;
	if (!a->fork)
		return ftrace_wait_run(w, command[0], e);
	r = workload_start(&w->child, command[0], &w->exit_code, e);
	w->child.pid = 0; /* it goes on without us */
	return r;
}

static void say_where(const struct ftrace *f)
{
	AUTO_STRBUF where = { 0 };

	vec_each (&f->buffers, b)
		strbuf_printf(&where, "%s%s", where.n ? " and " : "", b->dir);
	command_note("tracing in %s; kymo ftrace show, stop, extract, and reset at the end",
		     strbuf_str(&where));
}

static int ftrace_control_begin(args_t *a, int argc, char **argv, bool append, struct err *e)
{
	AUTO_FREE char **command = NULL;
	struct ftrace_wait w = { .user = a->t.user };
	struct ftrace f = { 0 };
	int r;

	if (!a->t.any_option && !append) {
		err_set(e, EINVAL, "what shall be traced?");
		return err_hint(e, "name events (-e sched) or a tracer (-p function -l 'vfs_*')");
	}
	r = ftrace_run_prepare(&a->t, argc, argv, &command, e);
	if (r >= 0 && command)
		r = ftrace_wait_open(&w, command, e);
	if (r < 0)
		return r;
	if (a->t.filter_command)
		vec_push(&a->t.o.pids, w.child.pid);
	a->t.o.keep = true;
	a->t.o.append = append;
	r = ftrace_open(&f, &a->t.o, e);
	if (r >= 0)
		r = ftrace_pids(&f, e);
	if (r >= 0)
		r = ftrace_start(&f, e);
	if (r >= 0)
		r = run_command(a, &w, command, e);
	ftrace_wait_close(&w);
	if (r >= 0 && !a->t.quiet)
		say_where(&f);
	if (r < 0 && !append && f.root)
		ftrace_reset_kept(f.root); /* what was half set goes again */
	ftrace_forget(&f);
	ftrace_close(&f);
	return r < 0 ? r : w.exit_code;
}

static int run_start(void *args, int argc, char **argv, struct err *e)
{
	return ftrace_control_begin(args, argc, argv, false, e);
}

static int run_set(void *args, int argc, char **argv, struct err *e)
{
	return ftrace_control_begin(args, argc, argv, true, e);
}

const struct command cmd_ftrace_start = {
	.name = "start",
	.group = "ftrace",
	.summary = "start tracing into the kernel's buffers, and leave it running",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.about = "As record, but nothing is read out: show shows it, extract writes it to a file, "
		 "reset puts everything back as it was. A command is run to its end.",
	.opts = start_opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(args_t),
	.run = run_start,
	.drop = ftrace_control_drop,
};

const struct command cmd_ftrace_set = {
	.name = "set",
	.group = "ftrace",
	.summary = "change what is traced, without clearing anything",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.opts = start_opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(args_t),
	.run = run_set,
	.drop = ftrace_control_drop,
};

/* --- stop, restart, clear --- */

static const struct opt buffer_opts[] = {
	OPT_STRS('B', "buffer", "NAME", buffers, "this instance (several -B: each)"),
	OPT_FLAG('t', "top", top, "the top instance"),
	OPT_FLAG('a', "all", all, "all instances, and the top one"),
	OPT_END,
};

/* What reset was asked for. An instance that start had made is gone before its turn comes. */
static const args_t *resetting;

/* All of it to rest. */
static int rest(const char *dir, struct err *e)
{
	int r = ftrace_reset_dir(dir, e);
	char kb[32];

	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)resetting->size_kb);
	if (r >= 0 && resetting->size_kb)
		r = ftrace_set(dir, "buffer_size_kb", kb, e);
	if (r >= 0 && resetting->free_it && strstr(dir, "/instances/") && rmdir(dir) < 0)
		r = err_set(e, errno, "cannot remove %s: %s", dir, strerror(errno));
	return r;
}

static int set_dir(const char *dir, const char *name, const char *value, struct err *e)
{
	return name ? ftrace_set(dir, name, value, e) : rest(dir, e);
}

/*
 * A setting of the instances that were named; without any of that of start, or of the top one. name
 * NULL: all of them to rest.
 */
static int each_dir(const args_t *a, const char *name, const char *value, struct err *e)
{
	const char *root = ftrace_root(e);
	int r = 0;

	if (!root)
		return -ENOENT;
	if (ftrace_for_root(e) < 0)
		return -EPERM;
	if (a->all) {
		AUTO_FREE char *path = mem_printf("%s/instances", root);
		struct file_names names = { 0 };

		if (file_list(path, &names) == 0)
			for (size_t i = 0; r >= 0 && i < names.n; i++) {
				AUTO_FREE char *dir = mem_printf("%s/%s", path, names.name[i]);

				r = set_dir(dir, name, value, e);
			}
		file_names_free(&names);
	}
	if (r >= 0 && (a->all || a->top))
		r = set_dir(root, name, value, e);
	for (size_t i = 0; r >= 0 && i < a->buffers.n; i++) {
		AUTO_FREE char *dir = ftrace_dir(root, a->buffers.data[i], e);

		r = dir ? set_dir(dir, name, value, e) : a == resetting ? 0 : -ENOENT;
		if (r >= 0)
			err_clear(e);
	}
	if (r >= 0 && !a->all && !a->top && !a->buffers.n) {
		AUTO_FREE char *dir = ftrace_dir(root, NULL, e);

		r = set_dir(dir, name, value, e);
	}
	return r < 0 ? r : 0;
}

static int run_stop(void *args, int argc, char **argv, struct err *e)
{
	return each_dir(args, "tracing_on", "0", e);
}

static int run_restart(void *args, int argc, char **argv, struct err *e)
{
	return each_dir(args, "tracing_on", "1", e);
}

static int run_clear(void *args, int argc, char **argv, struct err *e)
{
	return each_dir(args, "trace", "", e);
}

#define VERB(var, word, what, table, fn)     \
	const struct command var = {         \
		.name = word,                \
		.group = "ftrace",           \
		.summary = what,             \
		.usage = "[OPTIONS]",        \
		.opts = table,               \
		.args_size = sizeof(args_t), \
		.run = fn,                   \
		.drop = ftrace_control_drop, \
	}

VERB(cmd_ftrace_stop, "stop", "stop writing to the buffers; what is in them stays", buffer_opts,
     run_stop);
VERB(cmd_ftrace_restart, "restart", "go on writing after stop", buffer_opts, run_restart);
VERB(cmd_ftrace_clear, "clear", "empty the buffers", buffer_opts, run_clear);

/* --- reset --- */

static const struct opt reset_opts[] = {
	OPT_STRS('B', "buffer", "NAME", buffers, "put this instance to rest, whoever set it"),
	OPT_FLAG('t', "top", top, "the top instance"),
	OPT_FLAG('a', "all", all, "all instances, and the top one"),
	OPT_U64('b', "buffer-size", "KB", size_kb, "set the size of each CPU's buffer as well"),
	OPT_FLAG('d', "delete", free_it, "remove the instances (-B, -a)"),
	OPT_END,
};

static int run_reset(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *root = ftrace_root(e);
	bool only_named = a->buffers.n && !a->all && !a->top;
	int bad = 0;

	if (!root)
		return -ENOENT;
	if (ftrace_for_root(e) < 0)
		return -EPERM;
	for (size_t i = 0; i < a->buffers.n; i++) {
		AUTO_FREE char *dir = ftrace_dir(root, a->buffers.data[i], e);

		if (!dir)
			return -ENOENT;
		if (only_named)
			bad += ftrace_reset_kept_in(dir);
	}
	if (!only_named)
		bad = ftrace_reset_kept(root);
	if (bad)
		command_note("%d settings could not be put back", bad);
	resetting = a;
	return a->all || a->top || a->buffers.n ? each_dir(a, NULL, NULL, e) : 0;
}

const struct command cmd_ftrace_reset = {
	.name = "reset",
	.group = "ftrace",
	.summary = "put back what start and set changed; -a: all tracing to rest",
	.usage = "[OPTIONS]",
	.about =
		"Without options all that kymo ftrace start and set did is taken back, and nothing "
		"else. With -a, -t or -B instances are put to rest whoever set them: no tracer, "
		"no events, no filters, no triggers. With -B alone the others stay as they are.",
	.opts = reset_opts,
	.args_size = sizeof(args_t),
	.run = run_reset,
	.drop = ftrace_control_drop,
};

/* --- snapshot --- */

static const struct opt snapshot_opts[] = {
	OPT_FLAG('s', "take", take, "take a snapshot of the buffer"),
	OPT_FLAG('r', "reset", reset, "empty it"),
	OPT_FLAG('f', "free", free_it, "give its memory back"),
	OPT_STR('B', "buffer", "NAME", buffer, "of this instance"),
	OPT_STR('c', "cpu", "CPU", cpu, "only of this CPU"),
	OPT_END,
};

static int run_snapshot(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *root = ftrace_root(e);
	AUTO_FREE char *dir = root ? ftrace_dir(root, a->buffer, e) : NULL;
	AUTO_FREE char *file = NULL;

	if (!dir)
		return -ENOENT;
	file = a->cpu ? mem_printf("%s/per_cpu/cpu%s/snapshot", dir, a->cpu)
		      : mem_printf("%s/snapshot", dir);
	if (access(file, F_OK) < 0) {
		err_set(e, ENOENT, "this kernel takes no snapshots (%s)", file);
		return err_hint(
			e, "it needs CONFIG_TRACER_SNAPSHOT; kymo ftrace extract saves the buffer "
			   "itself");
	}
	if (a->take || a->reset || a->free_it) {
		int r = undo_put(file, a->take ? "1" : a->reset ? "2" : "0", false, e);

		return r == -EINVAL && a->cpu
			       ? err_hint(e, "this kernel takes snapshots of all CPUs at once "
					     "only: do without -c")
			       : r;
	}
	return ftrace_print_file(file, e);
}

VERB(cmd_ftrace_snapshot, "snapshot", "take, show or drop a snapshot of the buffer", snapshot_opts,
     run_snapshot);

/* --- stack --- */

static const struct opt stack_opts[] = {
	OPT_FLAG(0, "start", start, "watch how deep kernel stacks get"),
	OPT_FLAG(0, "stop", stop, "watch no more"),
	OPT_FLAG(0, "reset", reset, "forget the deepest"),
	OPT_ACCEPTED_OPTIONAL("verbose"),
	OPT_END,
};

static int run_stack(void *args, int argc, char **argv, struct err *e)
{
	static const char control[] = "/proc/sys/kernel/stack_tracer_enabled";
	const args_t *a = args;
	const char *root = ftrace_root(e);
	AUTO_FREE char *trace = root ? mem_printf("%s/stack_trace", root) : NULL;
	AUTO_FREE char *max = root ? mem_printf("%s/stack_max_size", root) : NULL;
	int64_t on = 0;

	if (!root)
		return -ENOENT;
	if (access(control, F_OK) < 0) {
		err_set(e, ENOENT, "this kernel has no stack tracer");
		return err_hint(e, "it needs CONFIG_STACK_TRACER");
	}
	if (a->start || a->stop)
		return undo_put(control, a->start ? "1" : "0", false, e);
	if (a->reset)
		return undo_put(max, "0", false, e);
	file_i64(control, &on);
	printf("(stack tracer %srunning)\n", on ? "" : "not ");
	fflush(stdout);
	return ftrace_print_file(trace, e);
}

VERB(cmd_ftrace_stack, "stack", "the deepest kernel stack that was seen", stack_opts, run_stack);

/* --- mark --- */

static int run_mark(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *root = ftrace_root(e);
	AUTO_STRBUF text = { 0 };
	AUTO_FREE char *instances = root ? mem_printf("%s/instances", root) : NULL;
	struct file_names names = { 0 };
	int r;

	if (!root)
		return -ENOENT;
	if (!argc)
		return err_set(e, EINVAL, "mark with what? kymo ftrace mark TEXT");
	for (int i = 0; i < argc; i++)
		strbuf_printf(&text, "%s%s", i ? " " : "", argv[i]);
	if (a->buffer) {
		AUTO_FREE char *dir = ftrace_dir(root, a->buffer, e);

		return dir ? ftrace_set(dir, "trace_marker", text.data, e) : -ENOENT;
	}
	r = ftrace_set(root, "trace_marker", text.data, e);
	/* kymo's recordings are elsewhere; some kernels copy marks there by themselves */
	if (r >= 0 && file_list(instances, &names) == 0)
		for (size_t i = 0; i < names.n; i++) {
			AUTO_FREE char *dir = mem_printf("%s/%s", instances, names.name[i]);
			AUTO_FREE char *copies = mem_printf("%s/options/copy_trace_marker", dir);
			int64_t copied = 0;

			file_i64(copies, &copied);
			if (str_starts(names.name[i], "kymo") && !copied)
				ftrace_set(dir, "trace_marker", text.data, NULL);
		}
	file_names_free(&names);
	return r;
}

static const struct opt mark_opts[] = {
	OPT_STR('B', "buffer", "NAME", buffer, "only in this instance"),
	OPT_END,
};

const struct command cmd_ftrace_mark = {
	.name = "mark",
	.group = "ftrace",
	.summary = "write a line into the trace",
	.usage = "TEXT",
	.about = "The text appears between the events, in the top instance and in what kymo "
		 "records.",
	.opts = mark_opts,
	.args_size = sizeof(args_t),
	.run = run_mark,
};
