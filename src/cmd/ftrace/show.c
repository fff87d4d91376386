/* SPDX-License-Identifier: MIT */
/* kymo ftrace show, stat: looking at what the kernel traces. */
#define OPT_ARGS struct show_args
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "kern/undo.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "live/ftrace/ftrace.h"

struct show_args {
	const char *buffer, *cpu;
	bool pipe, snapshot, path, top, options;
	const char *file; /* one of tracefs to show instead */
	const char *pattern;
};

typedef struct show_args args_t;

#define HELD (64u << 20)

/* From fd to standard output; what comes within HELD bytes is written when all was read. */
static int print_fd(int fd, const char *path, size_t held, struct err *e)
{
	AUTO_STRBUF text = { 0 };
	char buf[65536];
	ssize_t n;

	if (fd < 0) {
		err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
		if (e && e->code == ENOENT)
			err_hint(e, "this kernel was built without it");
		if (e && (e->code == EPERM || e->code == EACCES))
			err_hint(e, "root may, unless the kernel is locked down: kymo doctor");
		return e ? -e->code : -EIO;
	}
	fflush(stdout);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		strbuf_add(&text, buf, (size_t)n);
		if (text.n <= held)
			continue;
		if (guard_write(STDOUT_FILENO, text.data, text.n) < 0)
			return 0;
		strbuf_reset(&text);
	}
	if (n < 0 && errno != EINTR)
		return err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	guard_write(STDOUT_FILENO, strbuf_str(&text), text.n);
	return 0;
}

int ftrace_print_file(const char *path, struct err *e)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	return print_fd(fd, path, 0, e);
}

/*
 * Reading the trace is itself traced when functions or system calls are, and so never comes to an
 * end. The kernel holds the trace while a file is open that was opened with this option set; so it
 * is held while we read, not while somebody looks at it.
 */
static int print_trace(const char *dir, const char *path, struct err *e)
{
	AUTO_FREE char *option = mem_printf("%s/options/pause-on-trace", dir);
	AUTO_CLOSE int fd = -1;
	struct undo *u = NULL;
	int64_t on = 1;

	file_i64(option, &on);
	if (!on && undo_open(&u, NULL) >= 0)
		undo_write(u, option, "1", NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	undo_all(u);
	return print_fd(fd, path, HELD, e);
}

int ftrace_print_names(const char *root, const char *dir, const char *before, bool values,
		       struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/%s", root, dir);
	struct file_names names = { 0 };
	int r = file_list(path, &names);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *file = mem_printf("%s/%s", path, names.name[i]);
		int64_t on = 1;

		if (values)
			file_i64(file, &on);
		printf("%s%s%s\n", before, on ? "" : "no", names.name[i]);
	}
	if (!names.n && !values)
		printf("(none)\n");
	file_names_free(&names);
	return 0;
}

/* --- show --- */

static int on_file(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	/* those that the kernel calls otherwise than trace-cmd */
	static const struct {
		const char *option, *file;
	} files[] = {
		{ "buffer_size", "buffer_size_kb" },
		{ "buffer_total_size", "buffer_total_size_kb" },
		{ "ftrace_filter", "set_ftrace_filter" },
		{ "ftrace_notrace", "set_ftrace_notrace" },
		{ "ftrace_pid", "set_ftrace_pid" },
		{ "graph_function", "set_graph_function" },
		{ "graph_notrace", "set_graph_notrace" },
		{ "cpumask", "tracing_cpumask" },
		{ "readme", "README" },
	};
	args_t *a = args;

	a->file = o->name;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strcmp(o->name, files[i].option) == 0)
			a->file = files[i].file;
	return 0;
}

static int on_event_file(const struct opt *o, const char *value, bool unset, void *args,
			 struct err *e)
{
	args_t *a = args;

	a->pattern = value;
	return on_file(o, value, unset, args, e);
}

static const struct opt show_opts[] = {
	OPT_FLAG('p', "pipe", pipe, "follow it as it comes, until Ctrl-C"),
	OPT_FLAG('s', "snapshot", snapshot, "the snapshot"),
	OPT_STR('c', "cpu", "CPU", cpu, "only of this CPU"),
	OPT_STR('B', "buffer", "NAME", buffer, "of this instance"),
	OPT_FLAG('f', "file", path, "the path of what is shown first"),
	OPT_HEAD("A setting instead of the trace"),
	OPT_FN0(0, "tracing_on", on_file, "whether the buffer is written to"),
	OPT_FN0(0, "current_tracer", on_file, "the tracer"),
	OPT_FN0(0, "buffer_size", on_file, "kilobytes of each CPU's buffer"),
	OPT_FN0(0, "buffer_total_size", on_file, "of all together"),
	OPT_FN0(0, "ftrace_filter", on_file, "functions that are traced"),
	OPT_FN0(0, "ftrace_notrace", on_file, "functions that are not"),
	OPT_FN0(0, "ftrace_pid", on_file, "threads whose functions are traced"),
	OPT_FN0(0, "graph_function", on_file, "functions of function_graph"),
	OPT_FN0(0, "graph_notrace", on_file, "functions it leaves out"),
	OPT_FN0(0, "cpumask", on_file, "CPUs that are traced"),
	OPT_FN0(0, "error_log", on_file, "what it refused last, and where"),
	OPT_HEAD("What the kernel says of itself"),
	OPT_FN0(0, "enabled_functions", on_file,
		"functions that are hooked now, by whom and how often"),
	OPT_FN0(0, "touched_functions", on_file, "all that ever were"),
	OPT_FN0(0, "dyn_ftrace_total_info", on_file, "how many functions can be traced"),
	OPT_FN0(0, "kprobe_profile", on_file, "kprobes with their hits and misses"),
	OPT_FN0(0, "uprobe_profile", on_file, "uprobes with their hits"),
	OPT_FN0(0, "dynamic_events", on_file, "all probes and synthetic events"),
	OPT_FN0(0, "saved_cmdlines", on_file, "names of the threads that were traced"),
	OPT_FN0(0, "saved_tgids", on_file, "their processes"),
	OPT_FN0(0, "printk_formats", on_file, "texts of trace_printk()"),
	OPT_FN0(0, "readme", on_file, "the kernel's own words on its files"),
	OPT_HEAD("Of an event"),
	OPT_FN(0, "hist", "SYSTEM:EVENT", on_event_file, "the histograms of an event"),
	OPT_FN(0, "trigger", "SYSTEM:EVENT", on_event_file, "the triggers of an event"),
	OPT_END,
};

static int run_show(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *root = ftrace_root(e);
	AUTO_FREE char *dir = root ? ftrace_dir(root, a->buffer, e) : NULL;
	AUTO_FREE char *path = NULL, *event = NULL;
	const char *name = a->pipe ? "trace_pipe" : a->snapshot ? "snapshot" : "trace";

	if (argc)
		return err_set(e, EINVAL, "what is '%s'? show takes options only", argv[0]);
	if (!dir)
		return -ENOENT;
	if (a->file && a->pattern) {
		event = mem_strdup(a->pattern);
		for (char *p = event; *p; p++)
			*p = *p == ':' ? '/' : *p;
		path = mem_printf("%s/events/%s/%s", dir, event, a->file);
		if (access(path, F_OK) < 0) {
			err_set(e, ENOENT, "there is no %s of '%s'", a->file, a->pattern);
			return err_hint(e, "kymo ftrace list -e lists the events; hist needs "
					   "CONFIG_HIST_TRIGGERS");
		}
	} else if (a->file) { /* some are of the whole kernel, not of an instance */
		path = mem_printf("%s/%s", dir, a->file);
		if (access(path, F_OK) < 0) {
			free(path);
			path = mem_printf("%s/%s", root, a->file);
		}
	} else if (a->cpu) {
		path = mem_printf("%s/per_cpu/cpu%s/%s", dir, a->cpu, name);
	} else {
		path = mem_printf("%s/%s", dir, name);
	}
	if (a->path)
		printf("%s\n", path);
	return a->file || a->pipe || a->snapshot ? ftrace_print_file(path, e)
						 : print_trace(dir, path, e);
}

static const struct example show_examples[] = {
	{ "ftrace show", "what start has traced so far" },
	{ "ftrace show -p", "follow it" },
	{ "ftrace show --kprobe_profile", "how often each probe was hit" },
	{ "ftrace show --hist sched:sched_switch", "a histogram" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_show = {
	.name = "show",
	.group = "ftrace",
	.summary = "the kernel's buffer as text",
	.usage = "[OPTIONS]",
	.examples = show_examples,
	.opts = show_opts,
	.args_size = sizeof(args_t),
	.run = run_show,
};

/* --- stat --- */

static const struct opt stat_opts[] = {
	OPT_STR('B', "buffer", "NAME", buffer, "only of this instance"),
	OPT_FLAG('t', "top", top, "the top instance as well as that of -B"),
	OPT_FLAG('o', "options", options, "and the trace options"),
	OPT_END,
};

/* A setting that is other than usual, a line each. */
static void ftrace_show_tell(const char *dir, const char *file, const char *what, const char *usual)
{
	AUTO_FREE char *text = NULL;
	size_t n = 0;

	if (ftrace_get(dir, file, &text, &n, NULL) < 0)
		return;
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	if (!n || *text == '#' || strcmp(text, usual) == 0 || strncmp(text, "no pid", 6) == 0)
		return;
	if (strchr(text, '\n')) {
		size_t lines = 1;

		for (const char *p = text; *p; p++)
			lines += *p == '\n';
		printf("  %s: %zu\n", what, lines);
		for (char *line = strtok(text, "\n"), *more = line; more && lines <= 50;
		     more = strtok(NULL, "\n"))
			printf("    %s\n", more);
	} else {
		printf("  %s: %s\n", what, text);
	}
}

static void tell_buffers(const char *dir)
{
	uint32_t *cpus = NULL;
	size_t n = 0;
	uint64_t lost = 0, entries = 0;

	if (ftrace_cpus(dir, &cpus, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		AUTO_STRBUF text = { 0 };

		lost += ftrace_stats(dir, cpus[i], &text);
		entries += ftrace_stat_number(strbuf_str(&text), "entries");
	}
	free(cpus);
	printf("  events in the buffer: %llu, lost: %llu\n", (unsigned long long)entries,
	       (unsigned long long)lost);
}

static void tell_all(const char *dir, const char *name, bool options)
{
	AUTO_FREE char *clock = ftrace_clock(dir);

	printf("%s%s\n", *name ? "Instance: " : "Top instance", name);
	ftrace_show_tell(dir, "current_tracer", "tracer", "nop");
	ftrace_show_tell(dir, "tracing_on", "writing to the buffer", "1");
	ftrace_show_tell(dir, "set_event", "events", "");
	ftrace_show_tell(dir, "set_ftrace_filter", "functions", "");
	ftrace_show_tell(dir, "set_ftrace_notrace", "functions left out", "");
	ftrace_show_tell(dir, "set_graph_function", "graph functions", "");
	ftrace_show_tell(dir, "set_ftrace_pid", "threads (functions)", "");
	ftrace_show_tell(dir, "set_event_pid", "threads (events)", "");
	ftrace_show_tell(dir, "tracing_thresh", "only longer than (us)", "0");
	ftrace_show_tell(dir, "max_graph_depth", "graph depth", "0");
	ftrace_show_tell(dir, "kprobe_events", "kprobes", "");
	ftrace_show_tell(dir, "uprobe_events", "uprobes", "");
	if (strcmp(clock, "local") != 0)
		printf("  clock: %s\n", clock);
	ftrace_show_tell(dir, "buffer_size_kb", "buffer of each CPU (KB)", "");
	tell_buffers(dir);
	ftrace_show_tell(dir, "error_log", "last errors", "");
	if (options) {
		printf("  options:\n");
		ftrace_print_names(dir, "options", "    ", true, NULL);
	}
}

static int run_stat(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	const char *root = ftrace_root(e);
	AUTO_FREE char *instances = root ? mem_printf("%s/instances", root) : NULL;
	struct file_names names = { 0 };

	if (!root)
		return -ENOENT;
	if (a->buffer) {
		AUTO_FREE char *dir = ftrace_dir(root, a->buffer, e);

		if (!dir)
			return -ENOENT;
		if (a->top) {
			tell_all(root, "", a->options);
			printf("\n");
		}
		tell_all(dir, a->buffer, a->options);
		return 0;
	}
	tell_all(root, "", a->options);
	if (a->top)
		return 0;
	if (file_list(instances, &names) == 0)
		for (size_t i = 0; i < names.n; i++) {
			AUTO_FREE char *dir = mem_printf("%s/%s", instances, names.name[i]);

			printf("\n");
			tell_all(dir, names.name[i], a->options);
		}
	file_names_free(&names);
	return 0;
}

const struct command cmd_ftrace_stat = {
	.name = "stat",
	.group = "ftrace",
	.summary = "what is being traced, and by whose settings",
	.usage = "[-B NAME] [-t] [-o]",
	.opts = stat_opts,
	.args_size = sizeof(args_t),
	.run = run_stat,
};
