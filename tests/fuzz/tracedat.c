/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace.dat: opened, read by chunks and in order, printed as report and dump do,
 * filtered.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/out.h"
#include "calc/read/ftrace_filter.h"
#include "fuzz.h"
#include "store/tracedat/raw.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/dump.h"
#include "view/ftrace/text.h"

static int take(void *ctx, const struct event *ev)
{
	uint64_t *sum = ctx;

	for (uint32_t i = 0; i < ev->chain_n; i++)
		*sum += ev->chain[i];
	for (uint32_t i = 0; i < ev->raw_size; i++)
		*sum += ((const uint8_t *)ev->raw)[i];
	return 0;
}

struct printing {
	struct source *s;
	struct ftrace_text *text;
	struct ftrace_filter *filter;
	struct ftrace_queue queue;
	struct out *out;
};

static int line(void *ctx, const struct ftrace_line *l)
{
	struct printing *p = ctx;

	ftrace_text_line(l->text, l->ev, l->missed, l->end, p->out);
	return 0;
}

static const char *comm_of(void *text, int32_t tid)
{
	return ftrace_text_comm_of(text, tid);
}

static int show(void *ctx, const struct event *ev)
{
	struct printing *p = ctx;

	if (p->filter && ev->kind != EVENT_LOST && ev->type != EVENT_TYPE_NONE)
		ftrace_filter_match(p->filter, &p->s->trace->types[ev->type], ev, comm_of, p->text);
	return ftrace_queue_add(&p->queue, p->text, ev, true);
}

static void print(struct source *s, unsigned how, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);
	struct ftrace_text_opts o = { .tep = s->trace->tep,
				      .long_size = t->long_size,
				      .swap = t->swap,
				      .latency = how & 1,
				      .nsec = how & 2,
				      .raw = how & 4,
				      .parent = true,
				      .offset = true,
				      .tail = true,
				      .depth = true,
				      .diff = true,
				      .boundaries = true };
	struct ftrace_names *names =
		ftrace_names_new(s->trace->info.kallsyms,
				 s->trace->info.kallsyms ? s->trace->info.kallsyms_size : 0);
	struct printing p = { .s = s, .queue = { .fn = line, .ctx = &p }, .out = out };
	AUTO_FREE struct ftrace_known *known = mem_alloc((t->n_formats + 1) * sizeof(*known));

	for (size_t i = 0; i < t->n_formats; i++)
		known[i] = (struct ftrace_known){ t->formats[i].system, t->formats[i].name, NULL };
	p.text = ftrace_text_new(&o, s->trace, names);
	ftrace_filter_new(".*:common_pid > 0 || COMM =~ \"a\" || next_comm == \"b\"", known,
			  t->n_formats, false, &p.filter, NULL);
	if (t->cmdlines)
		ftrace_text_comms(p.text, t->cmdlines, t->cmdlines_size);
	s->read_ordered(s, true, show, &p, NULL);
	ftrace_queue_flush(&p.queue);
	ftrace_queue_free(&p.queue);
	ftrace_filter_free(p.filter);
	ftrace_text_free(p.text);
	ftrace_names_free(names);
}

static void dump(const char *path, struct out *out)
{
	struct source *s = NULL;
	struct err e = { 0 };

	if (tracedat_open_raw(path, &s, &e) < 0) {
		FUZZ_CHECK(e.code && e.msg[0]);
		return;
	}
	if (ftrace_dump(s, path, FTRACE_DUMP_ALL, out, &e) < 0)
		FUZZ_CHECK(e.code && e.msg[0]);
	source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1, null = -1;
	AUTO_FREE char *path = NULL;
	struct source *s = NULL;
	struct err e = { 0 };
	struct out out;
	uint64_t sum = 0;

	if (file < 0) {
		file = memfd_create("fuzz", 0);
		null = open("/dev/null", O_WRONLY);
	}
	FUZZ_CHECK(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	FUZZ_CHECK(file_write_all(file, data, size) == 0);
	path = mem_printf("/proc/self/fd/%d", file);
	out_init(&out, null);
	dump(path, &out);
	if (tracedat_open_fd(file, path, &s, &e) < 0) {
		FUZZ_CHECK(e.code && e.msg[0]);
		out_free(&out);
		return 0;
	}
	for (size_t i = 0; i < s->n_chunks; i++)
		s->read_chunk(s, i, take, &sum, NULL);
	s->read_ordered(s, true, take, &sum, NULL);
	print(s, size, &out);
	out_free(&out);
	source_close(s);
	return 0;
}
