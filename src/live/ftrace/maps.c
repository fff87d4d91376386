/* SPDX-License-Identifier: MIT */
#include "live/ftrace/maps.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "event/task.h"
#include "live/capture/ring.h"
#include "live/walk/walked.h"

#define MAPS_BYTES (64u << 20)

struct ftrace_maps {
	struct tasks *tasks;
	struct side_rings rings;
	struct walked side; /* puts the rings' records in order */
	uint64_t now;	    /* order is all the time that is needed */
	VEC(pid_t) pids;    /* that run already */
	VEC(char *) texts;
};

static void on_mapping(struct ftrace_maps *m, const struct walker_mmap *w)
{
	struct task_map map = { .start = w->start,
				.end = w->start + w->len,
				.pgoff = w->pgoff,
				.dso = tasks_dso(m->tasks, w->path, NULL, 0, false),
				.pid = w->pid };

	tasks_mmap(m->tasks, ++m->now, w->pid, w->tid, &map);
}

static void ftrace_maps_on_side(void *ctx, const struct perf_event_header *h,
				const struct walker_mmap *w)
{
	struct ftrace_maps *m = ctx;
	const uint32_t *u = (const uint32_t *)(h + 1);

	if (w)
		on_mapping(m, w);
	else if (h->type == PERF_RECORD_FORK) /* pid, ppid, tid, ptid */
		tasks_fork(m->tasks, ++m->now, (int32_t)u[1], (int32_t)u[3], (int32_t)u[0],
			   (int32_t)u[2], true);
	else if (h->type == PERF_RECORD_COMM && (h->misc & PERF_RECORD_MISC_COMM_EXEC))
		tasks_comm(m->tasks, ++m->now, (int32_t)u[0], (int32_t)u[1], (const char *)(u + 2),
			   true);
}

void ftrace_maps_poll(struct ftrace_maps *m)
{
	struct err ignored = { 0 };

	walked_side(&m->side, m->rings.ring, m->rings.n, ftrace_maps_on_side, m, &ignored);
}

struct reading {
	struct ftrace_maps *m;
	pid_t pid;
};

static int ftrace_maps_add_line(void *ctx, const char *line, size_t n)
{
	struct reading *r = ctx;
	AUTO_FREE char *text = mem_strndup(line, n);
	struct walker_mmap w = { .pid = r->pid, .tid = r->pid };
	uint64_t end;
	char prot[8];
	int at = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &w.start, &end, prot,
		   &w.pgoff, &at) != 4 ||
	    !at || !text[at] || prot[2] != 'x')
		return 0;
	w.len = end - w.start;
	w.path = text + at;
	on_mapping(r->m, &w);
	return 0;
}

/* As they are now, in place of what is known. */
static void read_process(struct ftrace_maps *m, pid_t pid)
{
	AUTO_FREE char *path = mem_printf("/proc/%d/maps", (int)pid);
	AUTO_FREE char *text = NULL;

	if (file_read(path, MAPS_BYTES, &text, NULL) < 0 || !*text)
		return;
	tasks_comm(m->tasks, ++m->now, pid, pid, "", true);
	str_split(text, '\n', ftrace_maps_add_line, &(struct reading){ m, pid });
}

int ftrace_maps_open(pid_t child, const pid_t *pids, size_t n, struct ftrace_maps **ret,
		     struct err *e)
{
	struct ftrace_maps *m = mem_alloc(sizeof(*m));
	const struct perf_event_attr only_its = { .inherit = 1, .exclude_kernel = 1 };
	int r = 0;

	m->tasks = tasks_new();
	for (size_t i = 0; i < n; i++)
		if (pids[i] != child) {
			vec_push(&m->pids, pids[i]);
			read_process(m, pids[i]);
		}
	m->side.side_type = SIDE_RINGS_SAMPLE;
	if (child > 0)
		r = side_rings_open(&m->rings, only_its, child, e);
	if (r < 0) {
		ftrace_maps_close(m);
		return r;
	}
	*ret = m;
	return 0;
}

/* --- as trace.dat has it --- */

struct listing {
	struct ftrace_maps *m;
	struct strbuf lines;
	unsigned n;
	const char *first;
};

/* The file offset behind it is not trace-cmd's, which reads no further than the name. */
static void put_map(void *ctx, const struct task_map *map)
{
	struct listing *l = ctx;
	const char *path = tasks_dso_path(l->m->tasks, map->dso);

	if (!*path)
		return;
	strbuf_printf(&l->lines, "%" PRIx64 " %" PRIx64 " %s +%" PRIx64 "\n", map->start, map->end,
		      path, map->pgoff);
	if (!l->first && *path == '/' && path[1] != '/')
		l->first = path;
	l->n++;
}

static void put_process(void *ctx, const struct task_seen *t)
{
	struct ftrace_maps *m = ctx;
	struct listing l = { .m = m };

	if (t->pid == t->tid) {
		tasks_each_map(m->tasks, tasks_space_at(m->tasks, t->pid, UINT64_MAX - 1), put_map,
			       &l);
		if (l.n && l.first)
			vec_push(&m->texts, mem_printf("%x %x %s\n%s", (unsigned)t->pid, l.n,
						       l.first, strbuf_str(&l.lines)));
	}
	strbuf_free(&l.lines);
}

char *const *ftrace_maps_texts(struct ftrace_maps *m, size_t *n)
{
	ftrace_maps_poll(m);
	vec_each (&m->pids, pid)
		read_process(m, *pid);
	if (!m->texts.n)
		tasks_each(m->tasks, put_process, m);
	*n = m->texts.n;
	return m->texts.data;
}

void ftrace_maps_close(struct ftrace_maps *m)
{
	if (!m)
		return;
	side_rings_close(&m->rings);
	walked_close(&m->side);
	vec_each (&m->texts, t)
		free(*t);
	vec_free(&m->texts);
	vec_free(&m->pids);
	tasks_free(m->tasks);
	free(m);
}
