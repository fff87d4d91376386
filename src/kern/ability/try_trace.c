/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kern/ability/try.h"
#include "kern/perf.h"
#include "kern/proc.h"
#include "kern/tracefs.h"

#define TEXT_LIMIT (16u << 20)
#define GROUP "kymo_doctor_" /* followed by the PID of who tries */
/* A function every kernel has, and that may be probed. */
#define ANY_FUNCTION "vfs_read"

static int read_in(const struct try_trace *t, const char *file, char **ret)
{
	AUTO_FREE char *path = mem_printf("%s/%s", t->path, file);

	return file_read(path, TEXT_LIMIT, ret, NULL);
}

static bool exists_in(const struct try_trace *t, const char *file)
{
	AUTO_FREE char *path = mem_printf("%s/%s", t->path, file);

	return file_exists(path);
}

static unsigned try_trace_lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Probes that another doctor tries at this moment do not count. */
static unsigned foreign_probes(const char *text)
{
	unsigned n = try_trace_lines(text);

	while (n && (text = strstr(text, ":" GROUP))) {
		text++;
		n--;
	}
	return n;
}

/* Append one line; tracefs takes it whole or answers an error. Never O_TRUNC: that removes all. */
static int try_trace_append(const struct try_trace *t, const char *file, const char *text)
{
	AUTO_FREE char *path = mem_printf("%s/%s", t->path, file);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Define a probe that is never enabled, and take it away again. */
static int try_define(const struct try_trace *t, const char *file, char kind, const char *where)
{
	AUTO_FREE char *add = mem_printf("%c:" GROUP "%d/try_%c %s\n", kind, getpid(), kind, where);
	AUTO_FREE char *del = mem_printf("-:" GROUP "%d/try_%c\n", getpid(), kind);
	sigset_t all, old;
	int r;

	if (!exists_in(t, file))
		return -ENOENT;
	/* Ctrl-C between the two lines would leave the probe behind. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	r = try_trace_append(t, file, add);
	if (r == 0)
		for (int tries = 0; try_trace_append(t, file, del) == -EBUSY && tries < 50; tries++)
			usleep(1000); /* somebody who enables all events holds it for a moment */
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* Remove what a doctor that was killed left: probes of our group whose process is gone. */
static void sweep(const struct try_trace *t)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	/* PIDs of another namespace say nothing about who is alive. */
	if (!proc_first_pidns() || read_in(t, "dynamic_events", &text) < 0)
		return;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		const char *group = strstr(l, ":" GROUP),
			   *event = group ? strchr(group, '/') : NULL;
		pid_t pid = group ? atoi(group + strlen(":" GROUP)) : 0;
		AUTO_FREE char *del = NULL;

		if (!event || pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		del = mem_printf("-%.*s\n", (int)(strcspn(group, " ")), group);
		try_trace_append(t, "dynamic_events", del);
	}
}

/* Through perf, for those who may use it but not write to tracefs. */
static int try_pmu(bool user, const char *where, uint64_t offset, bool perfmon)
{
	struct perf_event_attr attr;
	int fd = perf_probe_attr(user, false, where, offset, 0, &attr);

	if (fd < 0 || !perfmon)
		return fd < 0 ? fd : -EACCES;
	attr.disabled = 1;
	fd = perf_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void try_trace_probes(struct try_trace *t, bool perfmon)
{
	if (t->writable == 0) {
		sweep(t);
		t->kprobe = try_define(t, "kprobe_events", 'p', ANY_FUNCTION);
		t->uprobe = try_define(t, "uprobe_events", 'p', "/proc/self/exe:0x1000");
		t->fprobe = try_define(t, "dynamic_events", 'f', ANY_FUNCTION);
		/* Before 6.4 the file is there but does not know the letter. */
		if (t->fprobe == -EINVAL || t->fprobe == -ECANCELED)
			t->fprobe = -ENOENT;
		return;
	}
	t->fprobe = -EACCES;
	t->kprobe = try_pmu(false, ANY_FUNCTION, 0, perfmon);
	t->uprobe = try_pmu(true, "/proc/self/exe", 0x1000, perfmon);
}

/* The first function on offer is enough: kernels that refuse do so here. */
static int try_functions(const struct try_trace *t)
{
	AUTO_FREE char *path = mem_printf("%s/available_filter_functions", t->path);
	char line[512];
	int r = file_line(path, line, sizeof(line));

	return r < 0 ? r : line[0] ? 0 : -ENOENT;
}

static void tracers(struct try_trace *t)
{
	AUTO_FREE char *path = mem_printf("%s/available_tracers", t->path);

	if (file_line(path, t->tracers, sizeof(t->tracers)) < 0)
		return;
	while (str_ends(t->tracers, " "))
		t->tracers[strlen(t->tracers) - 1] = '\0';
	t->graph = str_has_word(t->tracers, "function_graph", ' ');
	t->function = str_has_word(t->tracers, "function", ' ') ? try_functions(t) : -ENOENT;
}

static void others(struct try_trace *t)
{
	AUTO_FREE char *on = NULL, *current = NULL, *set = NULL, *defined = NULL;
	AUTO_FREE char *dir = mem_printf("%s/instances", t->path);
	struct file_names names;

	t->stopped = read_in(t, "tracing_on", &on) == 0 && on[0] == '0';
	if (read_in(t, "current_tracer", &current) == 0 && !str_starts(current, "nop"))
		snprintf(t->current, sizeof(t->current), "%.*s", (int)strcspn(current, "\n"),
			 current);
	if (read_in(t, "set_event", &set) == 0)
		t->enabled = try_trace_lines(set);
	if (read_in(t, "dynamic_events", &defined) == 0)
		t->probes = foreign_probes(defined);
	if (file_list(dir, &names) == 0) {
		t->instances = (unsigned)names.n;
		file_names_free(&names);
	}
}

void try_trace(struct try_trace *t, bool perfmon)
{
	AUTO_FREE char *events = NULL, *kprobes = NULL;
	char on[8] = "";

	*t = (struct try_trace){ .ftrace_enabled = TRY_ABSENT };
	file_i64("/proc/sys/kernel/ftrace_enabled", &t->ftrace_enabled);
	t->possible =
		file_exists("/sys/kernel/tracing") || file_exists("/sys/kernel/debug/tracing");
	mounts_find("debugfs", NULL, t->debugfs, sizeof(t->debugfs));
	if (mounts_find("tracefs", NULL, t->path, sizeof(t->path)) < 0) {
		t->path[0] = '\0';
		/* Old kernels mount it there when somebody looks. */
		if (t->debugfs[0] && access("/sys/kernel/debug/tracing/events", F_OK) == 0)
			snprintf(t->path, sizeof(t->path), "/sys/kernel/debug/tracing");
	}
	t->readable = t->writable = t->function = -ENOENT;
	if (t->path[0]) {
		AUTO_FREE char *probe = mem_printf("%s/set_event", t->path);

		t->readable = read_in(t, "available_events", &events);
		t->writable = access(probe, W_OK) == 0 ? 0 : -errno;
		t->function = t->readable;
	}
	try_trace_probes(t, perfmon);
	if (t->readable < 0)
		return;
	t->events = try_trace_lines(events);
	tracers(t);
	t->hist = exists_in(t, "events/sched/sched_switch/hist");
	t->snapshot = exists_in(t, "snapshot");
	kprobes = mem_printf("%s/kprobes/enabled", t->debugfs);
	t->kprobes_off = t->debugfs[0] && file_line(kprobes, on, sizeof(on)) == 0 && on[0] == '0';
	others(t);
}
