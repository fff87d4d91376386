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

struct walk {
	struct source *s;
	struct tracedat_walk *w;
};

static void fill(const struct walk *x, const struct tracedat_record *from, struct ftrace_record *to)
{
	uint16_t id = 0;
	uint32_t type = UINT32_MAX;

	*to = (struct ftrace_record){ .r = from->r, .time = from->r.time, .cpu = from->cpu };
	if (tracedat_head(tracedat_of(x->s), &from->r, &id, &to->pid))
		type = tracedat_type(x->s, id);
	to->type = type == UINT32_MAX ? NULL : &x->s->trace->types[type];
}

static bool peek(void *ctx, struct ftrace_record *ret)
{
	struct walk *x = ctx;
	struct tracedat_record rec;

	if (!tracedat_walk_peek(x->w, &rec))
		return false;
	fill(x, &rec, ret);
	return true;
}

static void pass(void *ctx)
{
	struct tracedat_record rec;

	tracedat_walk_next(((struct walk *)ctx)->w, &rec);
}

static const char *system_of(void *ctx, size_t i)
{
	return ((const struct tracedat *)ctx)->formats[i].system;
}

static const char *event_of(void *ctx, size_t i)
{
	return ((const struct tracedat *)ctx)->formats[i].name;
}

static void print(struct source *s, unsigned how, struct out *out)
{
	const struct tracedat *t = tracedat_of(s);
	struct ftrace_text_opts o = { .latency = how & 1,
				      .nsec = how & 2,
				      .raw = how & 4,
				      .parent = true,
				      .offset = true,
				      .tail = true,
				      .depth = true,
				      .diff = true,
				      .boundaries = true };
	struct ftrace_heads h = { t->type_at,	 t->pid_at,    t->flags_at,
				  t->preempt_at, t->long_size, t->swap };
	struct ftrace_names *names =
		ftrace_names_new(s->trace->info.kallsyms,
				 s->trace->info.kallsyms ? s->trace->info.kallsyms_size : 0);
	struct ftrace_text *text = ftrace_text_new(&o, &h, s->trace->tep, names);
	struct walk x = { .s = s, .w = tracedat_walk_new(s, SIZE_MAX, NULL, NULL) };
	struct ftrace_events events = { t->n_formats, system_of, event_of, (void *)t, NULL };
	struct ftrace_filter *filter = NULL;
	struct tracedat_record rec;

	ftrace_filter_new(".*:common_pid > 0 || COMM =~ \"a\" || next_comm == \"b\"", &events,
			  &filter, NULL);
	if (t->cmdlines)
		ftrace_text_comms(text, t->cmdlines, t->cmdlines_size);
	for (size_t i = 0; i < s->trace->n_types; i++)
		ftrace_text_type(text, &s->trace->types[i]);
	while (tracedat_walk_next(x.w, &rec)) {
		struct ftrace_record r;

		fill(&x, &rec, &r);
		if (filter && r.type)
			ftrace_filter_match(filter,
					    &(struct ftrace_subject){
						    .type = r.type,
						    .data = r.r.data,
						    .size = r.r.size,
						    .comm = ftrace_text_comm_of(text, r.pid) });
		ftrace_text_line(text, &r, &(struct ftrace_next){ peek, pass, &x }, out);
	}
	ftrace_filter_free(filter);
	tracedat_walk_free(x.w);
	ftrace_text_free(text);
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
	if (tracedat_open(path, &s, &e) < 0) {
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
