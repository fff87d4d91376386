/* SPDX-License-Identifier: MIT */
/* kymo ftrace stream: trace and print at once. */
#define OPT_ARGS struct stream_args
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/out.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/opts.h"
#include "cmd/ftrace/run.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "store/tracedat/tracedat.h"
#include "store/tracedat/write.h"
#include "view/ftrace/text.h"

#define TICK_NS 100000000u
#define LOOK_EVERY 256	    /* records, for a signal */
#define PAGES_AT_ONCE 4096u /* of a CPU: more may come than can be printed */

struct stream_args {
	struct ftrace_args t;
	int seconds;
	bool latency, nsec;
};

typedef struct stream_args args_t;

/* One CPU: pages that were read and not yet printed. */
struct lane {
	int fd;
	uint32_t cpu;
	VEC(uint8_t *) pages;
	size_t next; /* page to start */
	struct ringbuf rb;
	struct ringbuf_record rec;
	bool have;
};

struct stream {
	struct ftrace *f;
	const struct ftrace_wait *w;
	bool cut; /* not all of it could be printed in time */
	struct source *s;
	struct ftrace_names *names;
	struct ftrace_text *text;
	struct lane *lanes;
	size_t n;
	uint32_t page;
	uint64_t newest; /* stamp of the newest record that was read before this look */
	struct out out;
};

static bool advance(struct stream *st, struct lane *l)
{
	while (!l->have) {
		if (ringbuf_next(&l->rb, &l->rec)) {
			l->have = true;
			break;
		}
		if (l->next == l->pages.n)
			return false;
		ringbuf_start(&l->rb, l->pages.data[l->next++], st->page);
	}
	return true;
}

static struct lane *earliest(struct stream *st)
{
	struct lane *best = NULL;

	for (size_t i = 0; i < st->n; i++)
		if (advance(st, &st->lanes[i]) && (!best || st->lanes[i].rec.time < best->rec.time))
			best = &st->lanes[i];
	return best;
}

static void ftrace_stream_fill(const struct stream *st, const struct lane *l,
			       struct ftrace_record *ret)
{
	const struct tracedat *t = tracedat_of(st->s);
	uint16_t id = 0;
	uint32_t type = UINT32_MAX;

	*ret = (struct ftrace_record){ .r = l->rec, .time = l->rec.time, .cpu = l->cpu };
	if (tracedat_head(t, &l->rec, &id, &ret->pid))
		type = tracedat_type(st->s, id);
	ret->type = type == UINT32_MAX ? NULL : &st->s->trace->types[type];
}

static bool peek(void *ctx, struct ftrace_record *ret)
{
	struct stream *st = ctx;
	const struct lane *l = earliest(st);

	if (!l)
		return false;
	ftrace_stream_fill(st, l, ret);
	return true;
}

static void ftrace_stream_take(void *ctx)
{
	struct lane *l = earliest(ctx);

	if (l)
		l->have = false;
}

/* Print what can have no earlier record behind it. */
static void print_until(struct stream *st, uint64_t until)
{
	struct ftrace_next next = { peek, ftrace_stream_take, st };
	struct lane *l;

	for (uint32_t n = 0; (l = earliest(st)) && l->rec.time <= until; n++) {
		struct ftrace_record rec;

		if (n % LOOK_EVERY == 0 && (st->cut = ftrace_wait_over(st->w)))
			break;
		ftrace_stream_fill(st, l, &rec);
		l->have = false;
		ftrace_text_line(st->text, &rec, &next, &st->out);
		out_putc(&st->out, '\n');
	}
	out_flush(&st->out);
	/* pages that are done with */
	for (size_t i = 0; i < st->n; i++) {
		l = &st->lanes[i];
		if (l->next < l->pages.n || l->have || l->rb.at < l->rb.end)
			continue;
		for (size_t k = 0; k < l->pages.n; k++)
			free(l->pages.data[k]);
		l->pages.n = l->next = 0;
	}
}

static uint64_t newest_on(const struct stream *st, const uint8_t *page, uint64_t so_far)
{
	struct ringbuf rb = { .layout = tracedat_of(st->s)->layout };
	struct ringbuf_record rec;

	ringbuf_start(&rb, page, st->page);
	while (ringbuf_next(&rb, &rec))
		so_far = rec.time > so_far ? rec.time : so_far;
	return so_far;
}

static uint64_t ftrace_stream_read_all(struct stream *st)
{
	uint64_t newest = st->newest;

	for (size_t i = 0; i < st->n; i++)
		for (unsigned k = 0; k < PAGES_AT_ONCE; k++) {
			uint8_t *page = mem_alloc(st->page);
			ssize_t n = read(st->lanes[i].fd, page, st->page);

			if (n <= 0) {
				free(page);
				break;
			}
			newest = newest_on(st, page, newest);
			vec_push(&st->lanes[i].pages, page);
		}
	return newest;
}

static int ftrace_stream_tick(void *ctx)
{
	struct stream *st = ctx;
	uint64_t newest = ftrace_stream_read_all(st);
	AUTO_FREE char *comms = NULL;
	size_t n = 0;

	/* tasks that were not there at the start */
	if (newest > st->newest && ftrace_get(st->f->root, "saved_cmdlines", &comms, &n, NULL) == 0)
		ftrace_text_comms(st->text, comms, n);
	print_until(st, st->newest);
	st->newest = newest;
	return st->out.error != 0;
}

/* A file of formats alone tells the printer what records are. */
static int open_formats(struct stream *st, struct err *e)
{
	AUTO_FREE char *path = mem_printf("/run/kymo/formats-%ld", (long)getpid());
	AUTO_FREE char *clocks = NULL;
	struct tracedat_out o = { .version = 6, .compression = "none" };
	int r = ftrace_about(st->f, &o, e);

	if (r >= 0)
		r = ftrace_get(st->f->buffers.data[0].dir, "trace_clock", &clocks, NULL, e);
	if (r >= 0) {
		o.clocks = clocks;
		r = tracedat_write(path, &o, e);
	}
	if (r >= 0)
		r = tracedat_open(path, &st->s, e);
	unlink(path);
	tracedat_out_free(&o);
	return r;
}

static int open_lanes(struct stream *st, struct err *e)
{
	const char *dir = st->f->buffers.data[0].dir;
	uint32_t *cpus = NULL;
	size_t n = 0;
	int r = ftrace_cpus(dir, &cpus, &n, e);

	st->page = ftrace_page_size(dir);
	st->lanes = mem_alloc((n + 1) * sizeof(*st->lanes));
	for (size_t i = 0; r >= 0 && i < n; i++) {
		AUTO_FREE char *path = mem_printf("%s/per_cpu/cpu%u/trace_pipe_raw", dir, cpus[i]);
		struct lane *l = &st->lanes[st->n++];

		l->cpu = cpus[i];
		l->rb.layout = tracedat_of(st->s)->layout;
		l->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (l->fd < 0)
			r = err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	}
	free(cpus);
	return r;
}

static void ftrace_stream_make_text(struct stream *st, const args_t *a)
{
	const struct tracedat *t = tracedat_of(st->s);
	const struct trace_info *info = &st->s->trace->info;
	struct ftrace_text_opts o = { .latency = a->latency,
				      .nsec = a->nsec,
				      .raw_time = !tracedat_in_ns(t) };
	struct ftrace_heads h = { t->type_at,	 t->pid_at,    t->flags_at,
				  t->preempt_at, t->long_size, t->swap };

	st->names = ftrace_names_new(info->kallsyms, info->kallsyms ? info->kallsyms_size : 0);
	st->text = ftrace_text_new(&o, &h, st->s->trace->tep, st->names);
	if (t->cmdlines)
		ftrace_text_comms(st->text, t->cmdlines, t->cmdlines_size);
	for (size_t i = 0; i < st->s->trace->n_types; i++)
		ftrace_text_type(st->text, &st->s->trace->types[i]);
}

static void stream_free(struct stream *st)
{
	for (size_t i = 0; i < st->n; i++) {
		struct lane *l = &st->lanes[i];

		for (size_t k = 0; k < l->pages.n; k++)
			free(l->pages.data[k]);
		vec_free(&l->pages);
		if (l->fd >= 0)
			close(l->fd);
	}
	free(st->lanes);
	ftrace_text_free(st->text);
	ftrace_names_free(st->names);
	source_close(st->s);
	out_free(&st->out);
}

static int stream(args_t *a, struct ftrace *f, struct ftrace_wait *w, char **argv, struct err *e)
{
	struct stream st = { .f = f, .w = w };
	pid_t self = getpid();
	int r = ftrace_open(f, &a->t.o, e);

	out_init(&st.out, STDOUT_FILENO);
	st.out.patience = &w->patience;
	if (r >= 0 && a->t.filter_command && w->child.pid > 0)
		vec_push(&a->t.o.pids, w->child.pid);
	if (r >= 0)
		r = ftrace_pids(f, e);
	if (r >= 0 && !a->t.o.pids.n)
		r = ftrace_exclude(f, &self, 1, e);
	if (r >= 0)
		r = open_formats(&st, e);
	if (r >= 0) {
		ftrace_stream_make_text(&st, a);
		r = open_lanes(&st, e);
	}
	if (r >= 0)
		r = ftrace_start(f, e);
	if (r >= 0) {
		w->tick = ftrace_stream_tick;
		w->ctx = &st;
		w->tick_ns = TICK_NS;
		r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
	}
	ftrace_stop(f, NULL);
	if (r >= 0) {
		uint64_t lost = 0;

		ftrace_stream_tick(&st);
		ftrace_stream_read_all(&st);
		print_until(&st, UINT64_MAX);
		if (st.cut || st.out.n)
			command_note("what had come when the end did took longer than %d ms, and "
				     "the rest was not shown",
				     LOOP_REST_MS);
		for (size_t i = 0; i < st.n; i++)
			lost += ftrace_stats(f->buffers.data[0].dir, st.lanes[i].cpu, NULL);
		if (lost)
			command_note("%llu events were lost; -b KB makes the buffers larger",
				     (unsigned long long)lost);
	}
	stream_free(&st);
	return r;
}

static const struct opt stream_opts[] = {
	FTRACE_OPTS,
	FTRACE_COMMAND_OPTS,
	OPT_INT(0, "duration", "SECONDS", seconds, "stop after so many seconds"),
	OPT_FLAG(0, "latency", latency, "narrow columns with interrupt state"),
	OPT_FLAG('t', "full-time", nsec, "times with nine digits"),
	OPT_ACCEPTED(0, "stderr"),
	FTRACE_NO_FILE_OPTS,
	OPT_END,
};

static int run_stream(void *args, int argc, char **argv, struct err *e)
{
	args_t *a = args;
	struct ftrace_wait w = { .user = a->t.user,
				 .limit_ns = (uint64_t)a->seconds * 1000000000u };
	struct ftrace f = { 0 };
	AUTO_FREE char **command = NULL;
	int r;

	if (!a->t.any_option) {
		err_set(e, EINVAL, "what shall be traced?");
		return err_hint(e, "name events (-e sched) or a tracer (-p function -l 'vfs_*')");
	}
	if (a->t.o.buffers.n > 1)
		return err_set(e, EINVAL, "stream shows one instance; record takes several");
	r = ftrace_run_prepare(&a->t, argc, argv, &command, e);
	if (r >= 0)
		r = ftrace_wait_open(&w, command, e);
	if (r >= 0)
		r = stream(a, &f, &w, command, e);
	ftrace_wait_close(&w);
	ftrace_run_close(&f);
	return r < 0 ? r : w.exit_code;
}

static void ftrace_stream_drop(void *args)
{
	ftrace_args_free(&((args_t *)args)->t);
}

static const struct example stream_examples[] = {
	{ "ftrace stream -e sched:sched_process_exec", "every program that is started" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_stream = {
	.name = "stream",
	.group = "ftrace",
	.summary = "trace and print events as they come",
	.usage = "[OPTIONS] [--] [COMMAND [ARGS]]",
	.examples = stream_examples,
	.opts = stream_opts,
	.parse = OPT_STOP_AT_ARG,
	.args_size = sizeof(args_t),
	.run = run_stream,
	.drop = ftrace_stream_drop,
};
