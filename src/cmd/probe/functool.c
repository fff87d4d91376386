/* SPDX-License-Identifier: MIT */
#include "cmd/probe/functool.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/patience.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/run.h"
#include "kern/proc.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "view/report/graph_lines.h"

#define TICK_NS 100000000u

int functool_pids(struct functool *f, struct err *e)
{
	uint64_t v;

	if (f->tid) {
		if (!str_u64(f->tid, &v) || v > INT32_MAX)
			return err_set(e, EINVAL, "-L wants a thread's id, not '%s'", f->tid);
		vec_push(&f->t.o.pids, (pid_t)v);
	}
	if (f->pid) {
		struct thread_list l = { 0 };

		if (proc_threads_of(f->pid, &l, e) < 0)
			return -e->code;
		for (size_t i = 0; i < l.n; i++)
			vec_push(&f->t.o.pids, l.tid[i]);
		thread_list_free(&l);
		f->t.o.children = true; /* threads it starts meanwhile */
	}
	return 0;
}

int functool_hint(struct err *e, int code)
{
	if (code == -EPERM || code == -EINVAL || code == -ENODEV || code == -ENOENT)
		if (strstr(e->hint, "doctor") || strstr(e->hint, "CONFIG_FUNCTION") || !e->hint[0])
			err_hint(e,
				 "%s. Tracepoints do without: kymo tpoint -l, kymo stat -e "
				 "'sched:*'; user functions: kymo uprobe, kymo functime -x FILE "
				 "FUNC; samples of kernel code: kymo record -a -g",
				 strstr(e->hint, "CONFIG_FUNCTION_GRAPH")
					 ? "the kernel was built without "
					   "CONFIG_FUNCTION_GRAPH_TRACER"
					 : "this kernel refuses to trace functions");
	return code;
}

struct printing {
	const struct ftrace_wait *w;
	bool cut; /* not all of it could be printed in time */
	int pipe;
	struct graph_lines *graph; /* NULL: every line is shown */
	struct strbuf lines;
};

/* What is in trace_pipe, for a while, so that other things are looked at, too. */
static int print_some(void *ctx)
{
	struct printing *p = ctx;
	char buf[65536];
	size_t done;
	ssize_t n;
	int r;

	while (!(p->cut = ftrace_wait_over(p->w)) && (n = read(p->pipe, buf, sizeof(buf))) > 0) {
		if (p->graph)
			graph_lines_feed(p->graph, buf, (size_t)n, &p->lines);
		else
			strbuf_add(&p->lines, buf, (size_t)n);
		r = patience_write(&p->w->patience, STDOUT_FILENO, strbuf_str(&p->lines),
				   p->lines.n, &done);
		if (r == -EINTR) { /* the rest stays for the end */
			memmove(p->lines.data, p->lines.data + done, p->lines.n - done);
			p->lines.n -= done;
			p->cut = true;
			break;
		}
		if (r < 0)
			return 1;
		strbuf_reset(&p->lines);
	}
	return 0;
}

/* What the kernel took for the function or pattern that was given. */
static struct graph_lines *graph_asked_for(const struct functool *t, const char *dir)
{
	AUTO_FREE char *wanted = NULL;

	if (!t->graph || ftrace_get(dir, "set_graph_function", &wanted, NULL, NULL) < 0)
		return NULL;
	return graph_lines_new(wanted, t->graph_bars);
}

static void print_head(const char *dir)
{
	AUTO_FREE char *text = NULL;
	const char *end;

	if (ftrace_get(dir, "trace", &text, NULL, NULL) < 0)
		return;
	for (const char *p = text; *p == '#' && (end = strchr(p, '\n')); p = end + 1)
		printf("%.*s\n", (int)(end - p), p);
	fflush(stdout);
}

/* The buffer as it stands, without its heading unless wanted. */
static int print_buffer(struct printing *p, const char *dir, bool headers, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/trace", dir);
	AUTO_FCLOSE FILE *in = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	size_t cap = 0;
	bool head = true;

	if (!in)
		return err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while (getline(&line, &cap, in) > 0) {
		head = head && (*line == '#' || *line == '\n');
		if (head && !headers)
			continue;
		if (!p->graph) {
			fputs(line, stdout);
			continue;
		}
		graph_lines_feed(p->graph, line, strlen(line), &p->lines);
		fputs(strbuf_str(&p->lines), stdout);
		strbuf_reset(&p->lines);
	}
	return 0;
}

static uint64_t count_lost(const char *dir)
{
	uint32_t *cpus = NULL;
	size_t n = 0;
	uint64_t lost = 0;

	if (ftrace_cpus(dir, &cpus, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			lost += ftrace_stats(dir, cpus[i], NULL);
	free(cpus);
	return lost;
}

static int show_format(struct functool *f, const char *root, struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s/events/%s/%s/format", root, f->probe.group, f->probe.name);

	return ftrace_print_file(path, e);
}

static int trace(struct functool *t, struct ftrace *f, struct ftrace_wait *w, struct err *e)
{
	struct printing p = { .w = w, .pipe = -1 };
	AUTO_FREE char *path = NULL;
	const char *dir;
	char n[64];
	uint64_t lost;
	pid_t self = getpid();
	int r = ftrace_open(f, &t->t.o, e);

	if (r >= 0 && t->has_probe) {
		r = raw_probe_add(f->root, t->user_probe, &t->probe, f->undo, e);
		if (r >= 0 && t->view)
			return show_format(t, f->root, e);
	}
	if (r >= 0)
		r = ftrace_pids(f, e);
	if (r >= 0 && !t->t.o.pids.n)
		r = ftrace_exclude(f, &self, 1, e);
	if (r < 0)
		return r;
	dir = f->buffers.data[0].dir;
	path = mem_printf("%s/trace_pipe", dir);
	if (!w->limit_ns) {
		p.pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (p.pipe < 0)
			return err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
		w->tick = print_some;
		w->ctx = &p;
		w->tick_ns = TICK_NS;
	}
	r = ftrace_start(f, e);
	p.graph = graph_asked_for(t, dir);
	if (r >= 0) {
		if (f->note[0])
			command_note("%s", f->note);
		if (w->limit_ns)
			fprintf(stderr, "Tracing %s for %g seconds (buffered)...\n", t->what,
				(double)w->limit_ns / 1e9);
		else
			fprintf(stderr, "Tracing %s... Ctrl-C to end.\n", t->what);
		if (t->headers && !w->limit_ns)
			print_head(dir);
		r = ftrace_wait_run(w, NULL, e);
	}
	ftrace_stop(f, NULL);
	lost = r >= 0 ? count_lost(dir) : 0;
	if (lost && p.graph) /* the beginnings of what is shown */
		graph_lines_all(p.graph);
	if (r >= 0 && w->limit_ns)
		r = print_buffer(&p, dir, t->headers, e);
	else if (r >= 0)
		print_some(&p);
	if (p.cut)
		command_note("what had come when the end did took longer than %d ms, and the rest "
			     "was not shown",
			     LOOP_REST_MS);
	if (lost)
		command_note("%s lost; trace less, or a shorter time",
			     str_were(lost, "event", n, sizeof(n)));
	graph_lines_free(p.graph);
	strbuf_free(&p.lines);
	if (p.pipe >= 0)
		close(p.pipe);
	w->ctx = NULL; /* was p */
	return r;
}

int functool_run(struct functool *t, struct err *e)
{
	struct ftrace_wait w = { 0 };
	struct ftrace f = { 0 };
	int r = duration_ns(t->seconds, &w.limit_ns, e);

	if (r >= 0)
		r = functool_pids(t, e);
	if (r >= 0 && t->stack && t->user_probe) {
		/* the kernel's part is the same each time: its way to the probe */
		vec_push(&ftrace_args_buffer(&t->t)->options, "userstacktrace");
		vec_push(&ftrace_args_buffer(&t->t)->options, "sym-userobj");
	} else if (r >= 0 && t->stack) {
		t->t.o.event_stack = true;
	}
	if (r >= 0)
		r = ftrace_wait_open(&w, NULL, e);
	if (r >= 0)
		r = trace(t, &f, &w, e);
	ftrace_wait_close(&w);
	ftrace_run_close(&f);
	return r < 0 ? r : 0;
}

void functool_event(struct functool *f, const char *name, const char *filter)
{
	vec_push(&ftrace_args_buffer(&f->t)->events,
		 (struct ftrace_event_opt){ .name = name, .filter = filter });
}

void functool_drop(void *args)
{
	struct functool *f = args;

	ftrace_args_free(&f->t);
	if (f->has_probe)
		raw_probe_free(&f->probe);
}
