/* SPDX-License-Identifier: MIT */
/* kymo ftrace stream: trace and print at once. */
#define OPT_ARGS struct stream_args
#include <stdio.h>

#include "base/mem.h"
#include "base/out.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/ftrace/opts.h"
#include "cmd/ftrace/run.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "live/ftrace/live.h"
#include "store/tracedat/live.h"
#include "view/ftrace/text.h"

#define TICK_NS 100000000u
#define LOOK_EVERY 256 /* records, for a signal */

struct stream_args {
	struct ftrace_args t;
	int seconds;
	bool latency, nsec;
};

typedef struct stream_args args_t;

struct stream {
	struct ftrace *f;
	const struct ftrace_wait *w;
	bool cut; /* not all of it could be printed in time */
	struct source *s;
	struct ftrace_names *names;
	struct ftrace_text *text;
	uint64_t looked; /* newest stamp when the names of tasks were read */
	uint64_t n;	 /* lines since the last look */
	struct ftrace_queue queue;
	struct out out;
};

/* Tasks that were not there at the start. */
static void read_comms(struct stream *st)
{
	AUTO_FREE char *comms = NULL;
	size_t n = 0;

	if (ftrace_get(st->f->root, "saved_cmdlines", &comms, &n, NULL) == 0)
		ftrace_text_comms(st->text, comms, n);
}

static int print_line(void *ctx, const struct ftrace_line *l)
{
	struct stream *st = ctx;

	if (st->n == 0)
		read_comms(st);
	ftrace_text_line(l->text, l->ev, l->missed, l->end, &st->out);
	out_putc(&st->out, '\n');
	return ++st->n % LOOK_EVERY == 0 && (st->cut = ftrace_wait_over(st->w));
}

static int print_event(void *ctx, const struct event *ev)
{
	struct stream *st = ctx;

	return ftrace_queue_add(&st->queue, st->text, ev, true);
}

static void stream_print(struct stream *st, bool all)
{
	st->n = 0;
	st->cut = ftrace_wait_over(st->w);
	if (!st->cut && st->s->poll(st->s, all, print_event, st, NULL) == 0)
		ftrace_queue_flush(&st->queue);
	out_flush(&st->out);
}

static int ftrace_stream_tick(void *ctx)
{
	struct stream *st = ctx;
	uint64_t newest;

	stream_print(st, false);
	/* what waits is printed next time, when its tasks may be gone */
	newest = tracedat_live_newest(st->s);
	if (newest > st->looked)
		read_comms(st);
	st->looked = newest;
	return st->out.error != 0;
}

static void ftrace_stream_make_text(struct stream *st, const args_t *a)
{
	const struct tracedat *t = tracedat_of(st->s);
	const struct trace_info *info = &st->s->trace->info;
	struct ftrace_text_opts o = { .tep = st->s->trace->tep,
				      .long_size = t->long_size,
				      .latency = a->latency,
				      .nsec = a->nsec,
				      .raw_time = !tracedat_in_ns(t) };

	st->names = ftrace_names_new(info->kallsyms, info->kallsyms ? info->kallsyms_size : 0);
	st->text = ftrace_text_new(&o, st->s->trace, st->names);
	st->queue.fn = print_line;
	st->queue.ctx = st;
	if (t->cmdlines)
		ftrace_text_comms(st->text, t->cmdlines, t->cmdlines_size);
}

static void stream_free(struct stream *st)
{
	ftrace_queue_free(&st->queue);
	ftrace_text_free(st->text);
	ftrace_names_free(st->names);
	source_close(st->s);
	out_free(&st->out);
}

static uint64_t stream_lost(const struct ftrace *f)
{
	const char *dir = f->buffers.data[0].dir;
	AUTO_FREE uint32_t *cpus = NULL;
	uint64_t lost = 0;
	size_t n = 0;

	if (ftrace_cpus(dir, &cpus, &n, NULL) >= 0)
		for (size_t i = 0; i < n; i++)
			lost += ftrace_stats(dir, cpus[i], NULL);
	return lost;
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
		r = ftrace_live_open(f, &st.s, e);
	if (r >= 0) {
		ftrace_stream_make_text(&st, a);
		r = ftrace_start(f, e);
	}
	if (r >= 0) {
		w->tick = ftrace_stream_tick;
		w->ctx = &st;
		w->tick_ns = TICK_NS;
		r = ftrace_wait_run(w, argv ? argv[0] : NULL, e);
	}
	ftrace_stop(f, NULL);
	if (r >= 0) {
		char n[64];
		uint64_t lost;

		ftrace_stream_tick(&st);
		stream_print(&st, true);
		if (st.cut || st.out.n)
			command_note("what had come when the end did took longer than %d ms, and "
				     "the rest was not shown",
				     LOOP_REST_MS);
		lost = stream_lost(f);
		if (lost)
			command_note("%s lost; -b KB makes the buffers larger",
				     str_were(lost, "event", n, sizeof(n)));
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
