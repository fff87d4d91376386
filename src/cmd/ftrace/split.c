/* SPDX-License-Identifier: MIT */
/* kymo ftrace split: parts of a trace.dat as files of their own. */
#define OPT_ARGS struct split_args
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/ftrace/copy.h"
#include "cmd/ftrace/ftrace.h"
#include "cmd/share/input.h"
#include "store/tracedat/ringbuf_write.h"

struct split_args {
	const char *input, *output;
	uint64_t seconds, ms, us, events, pages;
	int cpu;
	bool repeat, one_cpu, each_cpu;
};

typedef struct split_args args_t;

static int on_cpu(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;
	uint64_t v;

	if (!str_u64(value, &v) || v > 65535)
		return err_set(e, EINVAL, "-C wants the number of a CPU, not '%s'", value);
	a->cpu = (int)v;
	a->one_cpu = true;
	return 0;
}

static const struct opt opts[] = {
	OPT_STR_C('i', "input", "FILE", input, "read FILE (default: trace.dat)", "@files"),
	OPT_STR_C('o', "output", "FILE", output, "write FILE.1, FILE.2 ... (default: as the input)",
		  "@files"),
	OPT_U64('s', "seconds", "N", seconds, "so many seconds"),
	OPT_U64('m', "milliseconds", "N", ms, "so many milliseconds"),
	OPT_U64('u', "microseconds", "N", us, "so many microseconds"),
	OPT_U64('e', "events", "N", events, "so many events"),
	OPT_U64('p', "pages", "N", pages, "so many pages, of all CPUs together"),
	OPT_FN('C', "cpu", "CPU", on_cpu, "only this CPU"),
	OPT_FLAG('c', "each-cpu", each_cpu, "count (-e, -p) for each CPU by itself"),
	OPT_FLAG('r', "repeat", repeat, "again and again, up to the end"),
	OPT_END,
};

/* One file that is being made. */
struct part {
	struct ringbuf_writer *cpu; /* of all buffers, one after the other */
	int *fd;
	uint64_t events;
};

static size_t lane_of(const struct tracedat *t, uint32_t buffer, uint32_t cpu)
{
	size_t at = 0;

	for (uint32_t i = 0; i < buffer; i++)
		at += t->buffers[i].n_cpus;
	for (size_t k = 0; k < t->buffers[buffer].n_cpus; k++)
		if (t->buffers[buffer].cpus[k].cpu == cpu)
			return at + k;
	return SIZE_MAX;
}

static size_t lanes(const struct tracedat *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_buffers; i++)
		n += t->buffers[i].n_cpus;
	return n;
}

static int part_open(struct part *p, const struct tracedat *t, struct err *e)
{
	size_t at = 0;

	*p = (struct part){ .cpu = mem_alloc((lanes(t) + 1) * sizeof(*p->cpu)),
			    .fd = mem_alloc((lanes(t) + 1) * sizeof(*p->fd)) };
	for (size_t i = 0; i < t->n_buffers; i++)
		for (size_t k = 0; k < t->buffers[i].n_cpus; k++, at++) {
			p->fd[at] = memfd_create("kymo-split", MFD_CLOEXEC);
			if (p->fd[at] < 0)
				return err_set(e, errno, "cannot make a file in memory: %s",
					       strerror(errno));
			ringbuf_writer_init(&p->cpu[at], &t->layout, t->buffers[i].page_size,
					    p->fd[at]);
		}
	return 0;
}

/* Write the part and end it. */
static int part_close(struct part *p, const struct source *s, const char *path, struct err *e)
{
	struct ftrace_copy c;
	int r = 0;
	char n[64];

	ftrace_copy_head(s, &c);
	for (size_t i = 0; i < c.n_cpus; i++) {
		int one = p->cpu[i].page ? ringbuf_writer_end(&p->cpu[i]) : 0;

		r = one < 0 ? err_set(e, -one, "cannot keep pages: %s", strerror(-one)) : r;
		c.cpus[i].fd = p->fd[i];
		c.cpus[i].size = p->cpu[i].size;
	}
	if (r >= 0)
		r = tracedat_write(path, &c.o, e);
	if (r >= 0)
		command_note("wrote %s with %s", path, str_count(p->events, "event", n, sizeof(n)));
	for (size_t i = 0; i < c.n_cpus; i++)
		close(p->fd[i]);
	ftrace_copy_free(&c);
	free(p->cpu);
	free(p->fd);
	*p = (struct part){ 0 };
	return r;
}

struct splitting {
	const args_t *a;
	struct source *s;
	struct tracedat clock; /* that makes times of stamps */
	const char *output;
	uint64_t from, to, window; /* ns; window 0: none */
	struct part part;
	bool open;
	uint64_t began;
	uint64_t *seen; /* by lane: events, or pages */
	unsigned files;
	struct err *e;
};

static int next_part(struct splitting *x, uint64_t time, struct err *e)
{
	int r = part_open(&x->part, tracedat_of(x->s), e);

	x->open = true;
	x->began = time;
	x->files++;
	return r;
}

static int end_part(struct splitting *x, struct err *e)
{
	AUTO_FREE char *path = mem_printf("%s.%u", x->output, x->files);

	x->open = false;
	return part_close(&x->part, x->s, path, e);
}

static uint64_t pages_of(const struct splitting *x)
{
	size_t n = lanes(tracedat_of(x->s));
	uint64_t pages = 0;

	for (size_t i = 0; i < n; i++)
		pages += x->part.cpu[i].pages;
	return pages;
}

static bool full(const struct splitting *x, uint64_t time)
{
	return (x->window && time >= x->began + x->window) ||
	       (x->a->events && x->part.events >= x->a->events) ||
	       (x->a->pages && pages_of(x) >= x->a->pages);
}

/* One event of the walk: its time, and the lane it is of; false: it does not count. */
static bool lies_within(const struct splitting *x, const struct event *ev, uint64_t *time,
			size_t *lane)
{
	if (ev->kind == EVENT_LOST)
		return false;
	*time = tracedat_time(&x->clock, ev->time);
	*lane = lane_of(&x->clock, ev->part, ev->cpu);
	return *lane != SIZE_MAX && *time >= x->from && *time <= x->to &&
	       (!x->a->one_cpu || ev->cpu == (uint32_t)x->a->cpu);
}

static int split_add(struct splitting *x, const struct event *ev, uint64_t time, size_t lane)
{
	int r = x->open ? 0 : next_part(x, time, x->e);

	if (r >= 0) {
		ringbuf_writer_add(&x->part.cpu[lane], ev->time, ev->raw, ev->raw_size);
		x->part.events++;
	}
	return r < 0 ? r : 0;
}

/* -c: the n-th file has the n-th share of every CPU, which may be of quite other times. */
static int split_share(void *ctx, const struct event *ev)
{
	struct splitting *x = ctx;
	uint64_t time, n;
	size_t lane;

	if (!lies_within(x, ev, &time, &lane))
		return 0;
	x->seen[lane] += x->a->events || ev->have & EVENT_STARTS_PAGE;
	n = x->seen[lane] ? x->seen[lane] - 1 : 0;
	if (n / (x->a->events ? x->a->events : x->a->pages) != x->files - x->open)
		return 0;
	return split_add(x, ev, time, lane);
}

static int split_row(void *ctx, const struct event *ev)
{
	struct splitting *x = ctx;
	uint64_t time;
	size_t lane;
	int r;

	if (ev->kind != EVENT_LOST && tracedat_time(&x->clock, ev->time) > x->to)
		return 1;
	if (!lies_within(x, ev, &time, &lane))
		return 0;
	if (x->open && full(x, time)) {
		r = end_part(x, x->e);
		if (r < 0 || !x->a->repeat)
			return r < 0 ? r : 1;
	}
	return split_add(x, ev, time, lane);
}

/* One reading, and the part that it left open; as long as there is more of each CPU. */
static int ftrace_split_split(struct splitting *x, struct err *e)
{
	bool each = x->a->each_cpu && (x->a->events || x->a->pages), more;
	AUTO_FREE uint64_t *seen = NULL;
	int r;

	x->e = e;
	x->clock = *tracedat_of(x->s);
	/* the files have stamps */
	tracedat_set_clock(x->s, &(struct tracedat_clock){ .raw = true });
	do {
		free(seen);
		x->seen = seen = mem_alloc((lanes(&x->clock) + 1) * sizeof(*seen));
		r = x->s->read_ordered(x->s, true, each ? split_share : split_row, x, e);
		more = each && x->open && x->a->repeat;
		if (x->open && r >= 0)
			r = end_part(x, e);
	} while (r >= 0 && more);
	if (r >= 0 && !x->files)
		return err_set(e, ENODATA, "no event lies in that time");
	return r;
}

/* Seconds of the recording's clock. */
static int parse_time(const char *text, uint64_t *ret, struct err *e)
{
	double v;

	if (!str_double(text, &v) || v < 0)
		return err_set(e, EINVAL, "'%s' is no time in seconds", text);
	*ret = (uint64_t)(v * 1e9);
	return 0;
}

static int ftrace_split_run(void *args, int argc, char **argv, struct err *e)
{
	const args_t *a = args;
	struct splitting x = { .a = a, .to = UINT64_MAX };
	int r = 0;

	x.window = a->seconds * 1000000000u + a->ms * 1000000u + a->us * 1000u;
	if (argc > 0)
		r = parse_time(argv[0], &x.from, e);
	if (r >= 0 && argc > 1)
		r = parse_time(argv[1], &x.to, e);
	if (r < 0)
		return r;
	if (argc > 2)
		return err_set(e, EINVAL, "split takes a start and an end, no more");
	x.output = a->output ? a->output : a->input ? a->input : "trace.dat";
	r = ftrace_input(a->input, &x.s, e);
	if (r < 0)
		return r;
	if (tracedat_of(x.s)->swap)
		r = err_set(e, EOPNOTSUPP, "a recording of the other endian cannot be split here");
	else
		r = ftrace_split_split(&x, e);
	input_warn(x.s);
	source_close(x.s);
	return r < 0 ? r : 0;
}

static const struct example examples[] = {
	{ "ftrace split 1234.5 1236", "what happened between two moments" },
	{ "ftrace split -s 1 -r", "files of a second each" },
	{ NULL, NULL },
};

const struct command cmd_ftrace_split = {
	.name = "split",
	.group = "ftrace",
	.summary = "parts of a trace.dat as files of their own",
	.usage = "[OPTIONS] [START [END]]",
	.examples = examples,
	.opts = opts,
	.args_size = sizeof(args_t),
	.run = ftrace_split_run,
};
