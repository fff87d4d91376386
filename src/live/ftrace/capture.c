/* SPDX-License-Identifier: MIT */
#include "live/ftrace/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

#define PIPE_BYTES (1u << 20)
#define WAIT_MS 200

struct lane {
	struct ftrace_capture *c;
	struct ftrace_captured out;
	int raw, pipe[2];
	size_t pipe_size;
	uint32_t page;
	pthread_t thread;
	bool running;
	pid_t tid;
};

struct ftrace_capture {
	struct ftrace_capture_opts o;
	struct lane *lanes;
	size_t n;
	VEC(struct ftrace_captured) captured;
	VEC(pid_t) tids;
	atomic_bool stop;
	int wake; /* an eventfd that becomes readable when it is to stop */
	sem_t ready;
};

static int ftrace_capture_by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int ftrace_cpus(const char *dir, uint32_t **ret, size_t *n, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s/per_cpu", dir);
	struct file_names names = { 0 };
	VEC(uint32_t) cpus = { 0 };
	int r = file_list(path, &names);

	if (r < 0)
		return err_set(e, -r, "cannot read %s: %s", path, strerror(-r));
	for (size_t i = 0; i < names.n; i++) {
		unsigned cpu;

		if (sscanf(names.name[i], "cpu%u", &cpu) == 1)
			vec_push(&cpus, cpu);
	}
	file_names_free(&names);
	if (cpus.n)
		qsort(cpus.data, cpus.n, sizeof(*cpus.data), ftrace_capture_by_number);
	*ret = cpus.data;
	*n = cpus.n;
	return 0;
}

uint32_t ftrace_page_size(const char *dir)
{
	AUTO_FREE char *path = mem_printf("%s/buffer_subbuf_size_kb", dir);
	int64_t kb;

	if (file_i64(path, &kb) == 0 && kb >= 4 && kb <= 65536)
		return (uint32_t)kb * 1024;
	return (uint32_t)sysconf(_SC_PAGESIZE);
}

/* The file is full: the other one of the two is begun anew. */
static void swap_files(struct lane *l)
{
	struct ftrace_captured *o = &l->out;
	struct output file = o->older;
	int fd = o->older_fd;

	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		o->error = errno;
		return;
	}
	o->older = o->file;
	o->older_fd = o->fd;
	o->older_size = o->size;
	o->file = file;
	o->fd = fd;
	o->size = 0;
}

/* With a limit, two files take turns, each of half of it. */
static uint64_t file_limit(const struct lane *l)
{
	uint64_t half = l->c->o.max_kb * 1024 / 2 / l->page * l->page;

	return half ? half : l->page;
}

static bool grown(struct lane *l, size_t n)
{
	__atomic_store_n(&l->out.size, l->out.size + n, __ATOMIC_RELAXED);
	if (l->c->o.max_kb && l->out.size >= file_limit(l))
		swap_files(l);
	return true;
}

/* What is in the pipe into the file; false when that fails. */
static bool ftrace_capture_drain(struct lane *l, size_t n)
{
	size_t left = n;

	while (left) {
		ssize_t done = splice(l->pipe[0], NULL, l->out.fd, NULL, left, SPLICE_F_MOVE);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			l->out.error = done < 0 ? errno : EIO;
			return false;
		}
		left -= (size_t)done;
	}
	return grown(l, n);
}

/* Whole pages, as many as there are; false when it must end. */
static bool take_pages(struct lane *l)
{
	for (;;) {
		ssize_t n = splice(l->raw, NULL, l->pipe[1], NULL, l->pipe_size,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n > 0) {
			if (!ftrace_capture_drain(l, (size_t)n))
				return false;
			continue;
		}
		if (n == 0 || errno == EAGAIN || errno == EINTR)
			return true;
		l->out.error = errno;
		return false;
	}
}

/* The last pages are not full. */
static void take_rest(struct lane *l)
{
	AUTO_FREE char *page = mem_alloc(l->page);

	for (;;) {
		ssize_t n = read(l->raw, page, l->page);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		if ((size_t)n < l->page)
			memset(page + n, 0, l->page - (size_t)n);
		if (file_write_all(l->out.fd, page, l->page) < 0) {
			l->out.error = errno;
			return;
		}
		grown(l, l->page);
	}
}

static void wait_for_pages(struct lane *l)
{
	struct pollfd p[] = { { .fd = l->raw, .events = POLLIN },
			      { .fd = l->c->wake, .events = POLLIN } };

	if (l->c->o.sleep_us) {
		struct timespec t = { (time_t)(l->c->o.sleep_us / 1000000),
				      (long)(l->c->o.sleep_us % 1000000) * 1000 };

		ppoll(&p[1], 1, &t, NULL);
	} else {
		poll(p, 2, WAIT_MS);
	}
}

static void *lane_run(void *arg)
{
	struct lane *l = arg;

	l->tid = (pid_t)syscall(SYS_gettid);
	if (l->c->o.priority) {
		struct sched_param p = { .sched_priority = l->c->o.priority };

		pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	}
	sem_post(&l->c->ready);
	while (!atomic_load(&l->c->stop) && take_pages(l))
		wait_for_pages(l);
	if (!l->out.error && take_pages(l))
		take_rest(l);
	return NULL;
}

static int ftrace_capture_open_file(const struct ftrace_capture *c, const struct ftrace_buffer *b,
				    uint32_t cpu, const char *more, struct output *file, int *fd,
				    struct err *e)
{
	AUTO_FREE char *path =
		mem_printf("%s%s%s.cpu%u%s", c->o.output, *b->name ? "." : "", b->name, cpu, more);
	int r = output_open(file, path, O_RDWR, e);

	*fd = file->fd;
	if (r == 0)
		r = output_publish(file); /* it is what is left should we be killed */
	return r < 0 && file->fd >= 0 ? err_cannot_write(e, -r, path) : r;
}

static int open_lane(struct lane *l, const struct ftrace_buffer *b, struct err *e)
{
	AUTO_FREE char *raw = mem_printf("%s/per_cpu/cpu%u/%s", b->dir, l->out.cpu,
					 l->c->o.snapshot ? "snapshot_raw" : "trace_pipe_raw");
	int r, got;

	l->raw = open(raw, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (l->raw < 0) {
		err_set(e, errno, "cannot open %s: %s", raw, strerror(errno));
		return errno == EBUSY ? err_hint(e, "another program reads this instance")
				      : -e->code;
	}
	l->page = ftrace_page_size(b->dir);
	if (pipe2(l->pipe, O_CLOEXEC) < 0)
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	got = fcntl(l->pipe[0], F_SETPIPE_SZ, (int)PIPE_BYTES);
	if (got < 0)
		got = fcntl(l->pipe[0], F_GETPIPE_SZ);
	l->pipe_size = got > 0 ? (size_t)got : 65536;
	if (l->c->o.max_kb && file_limit(l) < l->pipe_size) /* never more than that at a time */
		l->pipe_size = file_limit(l);
	r = ftrace_capture_open_file(l->c, b, l->out.cpu, "", &l->out.file, &l->out.fd, e);
	if (r >= 0 && l->c->o.max_kb)
		r = ftrace_capture_open_file(l->c, b, l->out.cpu, ".1", &l->out.older,
					     &l->out.older_fd, e);
	return r;
}

static int add_lanes(struct ftrace_capture *c, struct ftrace *f, size_t i, struct err *e)
{
	const struct ftrace_buffer *b = &f->buffers.data[i];
	uint32_t *cpus = NULL;
	size_t n = 0;
	int r;

	/* their pages are thrown away with every wait that was not the longest */
	if (ftrace_is_latency(b->opt->tracer))
		return 0;
	r = ftrace_cpus(b->dir, &cpus, &n, e);
	if (r >= 0 && n)
		c->lanes = mem_grow(c->lanes, (c->n + n) * sizeof(*c->lanes));
	for (size_t k = 0; r >= 0 && k < n; k++) {
		struct lane *l = &c->lanes[c->n++];

		*l = (struct lane){ .c = c,
				    .raw = -1,
				    .pipe = { -1, -1 },
				    .out = { .buffer = i,
					     .cpu = cpus[k],
					     .fd = -1,
					     .older_fd = -1,
					     .file = OUTPUT_NONE,
					     .older = OUTPUT_NONE } };
		r = open_lane(l, b, e);
	}
	free(cpus);
	return r;
}

int ftrace_capture_start(struct ftrace *f, const struct ftrace_capture_opts *o,
			 struct ftrace_capture **ret, struct err *e)
{
	struct ftrace_capture *c = mem_alloc(sizeof(*c));
	int r = 0;

	c->o = *o;
	sem_init(&c->ready, 0, 0);
	c->wake = eventfd(0, EFD_CLOEXEC);
	for (size_t i = 0; r >= 0 && i < f->buffers.n; i++)
		r = add_lanes(c, f, i, e);
	for (size_t i = 0; r >= 0 && i < c->n; i++) {
		int code = pthread_create(&c->lanes[i].thread, NULL, lane_run, &c->lanes[i]);

		if (code)
			r = err_set(e, code, "cannot start a thread: %s", strerror(code));
		else
			c->lanes[i].running = true;
	}
	for (size_t i = 0; i < c->n; i++)
		if (c->lanes[i].running) {
			while (sem_wait(&c->ready) < 0)
				;
		}
	if (r < 0) {
		ftrace_capture_stop(c);
		ftrace_capture_free(c, false);
		return r;
	}
	for (size_t i = 0; i < c->n; i++)
		vec_push(&c->tids, c->lanes[i].tid);
	vec_push(&c->tids, getpid());
	*ret = c;
	return 0;
}

const pid_t *ftrace_capture_tids(const struct ftrace_capture *c, size_t *n)
{
	*n = c->tids.n;
	return c->tids.data;
}

void ftrace_capture_stop(struct ftrace_capture *c)
{
	uint64_t one = 1;

	atomic_store(&c->stop, true);
	if (write(c->wake, &one, sizeof(one)) < 0)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct lane *l = &c->lanes[i];

		if (l->running)
			pthread_join(l->thread, NULL);
		l->running = false;
		if (l->raw >= 0)
			close(l->raw);
		l->raw = -1;
		vec_push(&c->captured, l->out);
	}
}

struct ftrace_captured *ftrace_captured(struct ftrace_capture *c, size_t *n)
{
	*n = c->captured.n;
	return c->captured.data;
}

uint64_t ftrace_capture_so_far(const struct ftrace_capture *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += __atomic_load_n(&c->lanes[i].out.size, __ATOMIC_RELAXED);
	return n;
}

uint64_t ftrace_capture_bytes(const struct ftrace_capture *c)
{
	uint64_t n = 0;

	vec_each (&c->captured, x)
		n += x->size + x->older_size;
	return n;
}

static void end_keeping(struct output *o)
{
	output_close(o);
}

void ftrace_capture_free(struct ftrace_capture *c, bool keep)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct lane *l = &c->lanes[i];
		struct ftrace_captured *o = c->captured.n > i ? &c->captured.data[i] : &l->out;

		for (size_t k = 0; k < ARRAY_SIZE(l->pipe); k++)
			if (l->pipe[k] >= 0)
				close(l->pipe[k]);
		(keep ? end_keeping : output_drop)(&o->file);
		(keep && o->older_size ? end_keeping : output_drop)(&o->older);
	}
	close(c->wake);
	sem_destroy(&c->ready);
	free(c->lanes);
	vec_free(&c->captured);
	vec_free(&c->tids);
	free(c);
}

/* --- records of its own threads --- */

/*
 * Events of which a thread that takes pages makes a few each time it wakes, not some
 * for each page. Not sched: whether a switch between one of ours and another thread is
 * ours to take out, only the kernel's filter decides well.
 */
static bool is_quiet(const char *event)
{
	static const char *const systems[] = { "syscalls", "raw_syscalls", "block", "irq",
					       "signal",   "net",	   "napi",  "skb",
					       "sock",	   "tcp",	   "udp",   "power" };
	size_t n = strcspn(event, ":/");

	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (strlen(systems[i]) == n && strncmp(event, systems[i], n) == 0)
			return true;
	return !event[n] &&
	       (strncmp(event, "sys_enter_", 10) == 0 || strncmp(event, "sys_exit_", 9) == 0);
}

static bool all_quiet(const struct ftrace_buffer_opt *o)
{
	if (o->tracer && strcmp(o->tracer, "nop") != 0)
		return false;
	for (size_t i = 0; i < o->events.n; i++)
		if (!is_quiet(o->events.data[i].name))
			return false;
	return true;
}

int ftrace_own_exclude(struct ftrace *f, const struct ftrace_capture *c, struct err *e)
{
	const pid_t *tids;
	size_t n;

	vec_each (&f->buffers, b)
		b->own_inside = all_quiet(b->opt);
	tids = ftrace_capture_tids(c, &n);
	return ftrace_exclude(f, tids, n, e);
}
