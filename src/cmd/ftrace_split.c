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
#include "cmd/ftrace.h"
#include "cmd/input.h"
#include "store/ringbuf_write.h"
#include "store/tracedat.h"
#include "store/tracedat_write.h"

struct split_args {
	const char *input, *output;
	uint64_t seconds, ms, us, events, pages;
	int cpu;
	bool repeat, one_cpu;
};

typedef struct split_args args_t;

static int on_cpu(const struct opt *o, const char *value, bool unset, void *args, struct err *e)
{
	args_t *a = args;
	uint64_t v;

	(void)o;
	(void)unset;
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
	OPT_U64('p', "pages", "N", pages, "so many pages of a CPU"),
	OPT_FN('C', "cpu", "CPU", on_cpu, "only this CPU"),
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

static void add_formats(const struct tracedat *t, struct strbuf *ftrace, struct strbuf *formats)
{
	uint32_t n = 0, systems = 0;
	AUTO_STRBUF own = { 0 }, others = { 0 };

	for (size_t i = 0; i < t->n_formats; i++) {
		const struct tracedat_format *f = &t->formats[i];
		bool first = true;
		uint32_t count = 0;
		uint64_t size = f->size;

		if (strcmp(f->system, "ftrace") == 0) {
			strbuf_add(&own, (const char *)&size, 8);
			strbuf_add(&own, f->text, f->size);
			n++;
			continue;
		}
		for (size_t k = 0; k < i && first; k++)
			first = strcmp(t->formats[k].system, f->system) != 0;
		if (!first)
			continue;
		for (size_t k = i; k < t->n_formats; k++)
			count += strcmp(t->formats[k].system, f->system) == 0;
		strbuf_add(&others, f->system, strlen(f->system) + 1);
		strbuf_add(&others, (const char *)&count, 4);
		for (size_t k = i; k < t->n_formats; k++)
			if (strcmp(t->formats[k].system, f->system) == 0) {
				size = t->formats[k].size;
				strbuf_add(&others, (const char *)&size, 8);
				strbuf_add(&others, t->formats[k].text, t->formats[k].size);
			}
		systems++;
	}
	strbuf_add(ftrace, (const char *)&n, 4);
	strbuf_add(ftrace, strbuf_str(&own), own.n);
	strbuf_add(formats, (const char *)&systems, 4);
	strbuf_add(formats, strbuf_str(&others), others.n);
}

/* Write the part and end it. */
static int part_close(struct part *p, const struct source *s, const char *path, bool keep,
		      struct err *e)
{
	const struct tracedat *t = tracedat_of(s);
	struct tracedat_out o = { .version = t->version,
				  .compression = t->version == 6 ? "none" : t->compression,
				  .page_size = t->page_size,
				  .n_cpus = t->n_cpus,
				  .uname = t->uname,
				  .tool = t->tool,
				  .trace_id = t->trace_id };
	struct tracedat_out_buffer *buffers = mem_alloc((t->n_buffers + 1) * sizeof(*buffers));
	struct tracedat_out_cpu *cpus = mem_alloc((lanes(t) + 1) * sizeof(*cpus));
	AUTO_FREE char *clocks =
		mem_printf("[%s]\n", t->n_buffers && *t->buffers[0].clock ? t->buffers[0].clock
				     : *t->clock			  ? t->clock
									  : "local");
	AUTO_FREE char *date =
		t->has_date ? mem_printf("0x%llx", (long long)t->time_offset / 1000) : NULL;
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < t->n_buffers; i++) {
		buffers[i] = (struct tracedat_out_buffer){ .name = t->buffers[i].name,
							   .clock = *t->buffers[i].clock
									    ? t->buffers[i].clock
									    : "local",
							   .page_size = t->buffers[i].page_size,
							   .cpus = &cpus[at],
							   .n_cpus = t->buffers[i].n_cpus };
		for (size_t k = 0; k < t->buffers[i].n_cpus; k++, at++) {
			int one = p->cpu[at].page ? ringbuf_writer_end(&p->cpu[at]) : 0;

			r = one < 0 ? err_set(e, -one, "cannot keep pages: %s", strerror(-one)) : r;
			cpus[at] = (struct tracedat_out_cpu){ .cpu = t->buffers[i].cpus[k].cpu,
							      .fd = p->fd[at],
							      .size = p->cpu[at].size,
							      .older_fd = -1 };
		}
	}
	strbuf_add(&o.header, t->header, t->header_size);
	add_formats(t, &o.ftrace, &o.formats);
	strbuf_add(&o.kallsyms, s->trace->info.kallsyms ? s->trace->info.kallsyms : "",
		   s->trace->info.kallsyms_size);
	strbuf_add(&o.printk, t->printk ? t->printk : "", t->printk_size);
	strbuf_add(&o.cmdlines, t->cmdlines ? t->cmdlines : "", t->cmdlines_size);
	strbuf_add(&o.tgids, t->tgids ? t->tgids : "", t->tgids_size);
	o.clocks = clocks;
	o.date = date;
	o.buffers = buffers;
	o.n_buffers = t->n_buffers;
	if (r >= 0 && keep)
		r = tracedat_write(path, &o, e);
	if (r >= 0 && keep)
		command_note("wrote %s with %llu events", path, (unsigned long long)p->events);
	for (size_t i = 0; i < at; i++)
		close(p->fd[i]);
	tracedat_out_free(&o);
	free(buffers);
	free(cpus);
	free(p->cpu);
	free(p->fd);
	*p = (struct part){ 0 };
	return r;
}

struct splitting {
	const args_t *a;
	struct source *s;
	const char *output;
	uint64_t from, to, window; /* ns; window 0: none */
	struct part part;
	bool open;
	uint64_t began;
	unsigned files;
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
	return part_close(&x->part, x->s, path, true, e);
}

static bool full(const struct splitting *x, uint64_t time, size_t lane)
{
	return (x->window && time >= x->began + x->window) ||
	       (x->a->events && x->part.events >= x->a->events) ||
	       (x->a->pages && x->part.cpu[lane].pages >= x->a->pages);
}

static int split(struct splitting *x, struct err *e)
{
	const struct tracedat *t = tracedat_of(x->s);
	struct tracedat_walk *w = tracedat_walk_new(x->s, SIZE_MAX, NULL, NULL);
	struct tracedat_record rec;
	int r = 0;

	while (r >= 0 && tracedat_walk_next(w, &rec)) {
		uint64_t time = tracedat_time(t, rec.r.time);
		size_t lane = lane_of(t, rec.buffer, rec.cpu);

		if (time < x->from || lane == SIZE_MAX ||
		    (x->a->one_cpu && rec.cpu != (uint32_t)x->a->cpu))
			continue;
		if (time > x->to)
			break;
		if (x->open && full(x, time, lane)) {
			r = end_part(x, e);
			if (!x->a->repeat)
				break;
		}
		if (r >= 0 && !x->open)
			r = next_part(x, time, e);
		if (r >= 0) {
			ringbuf_writer_add(&x->part.cpu[lane], rec.r.time, rec.r.data, rec.r.size);
			x->part.events++;
		}
	}
	if (x->open && r >= 0)
		r = end_part(x, e);
	tracedat_walk_free(w);
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

static int run(void *args, int argc, char **argv, struct err *e)
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
	r = tracedat_open(a->input ? a->input : "trace.dat", &x.s, e);
	if (r < 0)
		return r;
	if (tracedat_of(x.s)->swap)
		r = err_set(e, EOPNOTSUPP, "a recording of the other endian cannot be split here");
	else
		r = split(&x, e);
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
	.run = run,
};
