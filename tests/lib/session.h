/* SPDX-License-Identifier: MIT */
/*
 * A recording session as small as can be, for tests and benches of the walker:
 * one sampling event and one ring of side-band records a CPU, for a command or
 * for everything. The real one is live/'s business.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "live/walk/walker.h"

#define SESSION_CPUS 64
#define SESSION_RING (1u << 20)

struct session_ring {
	int fd, sample_fd;
	struct perf_event_mmap_page *page;
};

struct session {
	struct walker *w;
	pid_t child;
	int n;
	struct session_ring ring[SESSION_CPUS];
	VEC(struct session_record {
		uint64_t time;
		struct perf_event_header *h;
	})
	batch;
	uint64_t records;
};

static inline int session_event(struct perf_event_attr *a, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* pid -1: everything. freq in Hz; config of a software event. 0 or -errno. */
static inline int session_open(struct session *s, struct walker *w, pid_t pid, uint64_t freq,
			       uint64_t config, struct err *e)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	s->w = w;
	for (int cpu = 0; cpu < cpus && cpu < SESSION_CPUS; cpu++) {
		struct perf_event_attr side = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(side),
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.sample_id_all = 1,
			.mmap = 1,
			.mmap2 = 1,
			.comm = 1,
			.comm_exec = 1,
			.task = 1,
			.use_clockid = 1,
			.clockid = CLOCK_MONOTONIC,
			.inherit = pid > 0,
			.wakeup_events = 1,
			.sample_period = 1,
		};
		struct perf_event_attr sample = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(sample),
			.config = config,
			.freq = 1,
			.sample_freq = freq,
			.inherit = pid > 0,
			.disabled = 1,
			.enable_on_exec = pid > 0,
		};
		struct session_ring *r = &s->ring[s->n];

		r->fd = session_event(&side, pid, cpu);
		r->sample_fd = session_event(&sample, pid, cpu);
		if (r->fd < 0 || r->sample_fd < 0)
			return err_set(e, errno, "perf_event_open: %s", strerror(errno));
		s->n++;
		r->page = mmap(NULL, SESSION_RING + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			       0);
		if (r->page == MAP_FAILED)
			return err_set(e, errno, "mmap of the ring: %s", strerror(errno));
		if (walker_attach(w, r->sample_fd, 7, e) < 0)
			return -e->code;
		if (pid < 0)
			ioctl(r->sample_fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return 0;
}

static inline int session_by_time(const void *a, const void *b)
{
	const struct session_record *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static inline void session_apply(struct session *s, const struct perf_event_header *h,
				 uint64_t time)
{
	const uint32_t *u = (const uint32_t *)(h + 1);

	if (h->type == PERF_RECORD_MMAP2) {
		const struct {
			uint32_t pid, tid;
			uint64_t addr, len, pgoff;
			uint32_t maj, min;
			uint64_t ino, ino_generation;
			uint32_t prot, flags;
			char filename[];
		} *m = (const void *)u;
		struct walker_mmap w = { .pid = (int32_t)m->pid,
					 .tid = (int32_t)m->tid,
					 .time = time,
					 .start = m->addr,
					 .len = m->len,
					 .pgoff = m->pgoff,
					 .maj = m->maj,
					 .min = m->min,
					 .ino = m->ino,
					 .ino_generation = m->ino_generation,
					 .path = m->filename };

		if (m->prot & PROT_EXEC)
			walker_mmap(s->w, &w);
	} else if (h->type == PERF_RECORD_COMM && (h->misc & PERF_RECORD_MISC_COMM_EXEC)) {
		walker_exec(s->w, (int32_t)u[0], time);
	} else if (h->type == PERF_RECORD_FORK) {
		walker_fork(s->w, (int32_t)u[0], (int32_t)u[1], time);
	} else if (h->type == PERF_RECORD_EXIT) {
		walker_exit(s->w, (int32_t)u[0], (int32_t)u[2], time);
	}
}

/* Everything in the rings, in time order. */
static inline void session_records(struct session *s)
{
	for (int i = 0; i < s->n; i++) {
		struct perf_event_mmap_page *p = s->ring[i].page;
		uint64_t head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE),
			 tail = p->data_tail;
		const char *data = (const char *)p + 4096;

		while (tail < head) {
			struct perf_event_header h, *copy;
			struct session_record r;

			memcpy(&h, data + tail % SESSION_RING, sizeof(h));
			copy = malloc(h.size);
			for (unsigned k = 0; k < h.size; k++)
				((char *)copy)[k] = data[(tail + k) % SESSION_RING];
			memcpy(&r.time, (char *)copy + h.size - 8, 8);
			r.h = copy;
			vec_push(&s->batch, r);
			tail += h.size;
		}
		__atomic_store_n(&p->data_tail, tail, __ATOMIC_RELEASE);
	}
	if (s->batch.n)
		qsort(s->batch.data, s->batch.n, sizeof(*s->batch.data), session_by_time);
	for (size_t i = 0; i < s->batch.n; i++) {
		session_apply(s, s->batch.data[i].h, s->batch.data[i].time);
		free(s->batch.data[i].h);
	}
	s->records += s->batch.n;
	s->batch.n = 0;
}

/* One turn: records, then samples. */
static inline int session_turn(struct session *s, int timeout_ms, walker_fn *fn, void *ctx)
{
	struct err e;
	int n;

	session_records(s);
	n = walker_poll(s->w, timeout_ms, fn, ctx, &e);
	return n;
}

/* A command that waits to be let go: session_go(). */
static inline pid_t session_command(struct session *s, char **argv, int *go)
{
	int pipe_fd[2];
	char c;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -1;
	s->child = fork();
	if (s->child == 0) {
		close(pipe_fd[1]);
		if (read(pipe_fd[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(pipe_fd[0]);
	*go = pipe_fd[1];
	return s->child;
}

static inline void session_go(int *go)
{
	if (write(*go, "x", 1) != 1)
		return;
	close(*go);
	*go = -1;
}

static inline void session_close(struct session *s)
{
	for (int i = 0; i < s->n; i++) {
		if (s->ring[i].page && s->ring[i].page != MAP_FAILED)
			munmap(s->ring[i].page, SESSION_RING + 4096);
		close(s->ring[i].fd);
		close(s->ring[i].sample_fd);
	}
	vec_free(&s->batch);
	s->n = 0;
}
