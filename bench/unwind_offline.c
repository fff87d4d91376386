/* SPDX-License-Identifier: MIT */
/*
 * How fast copied stacks are unwound: the samples of a `--call-graph dwarf`
 * recording, read into memory once, then unwound again and again by one thread.
 *
 *	bench-unwind_offline PERF.DATA [PASSES]
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/vec.h"
#include "store/perfdata/perfdata.h"
#include "sym/unwind/unwind.h"

struct sample {
	struct unwind_regs regs;
	uint32_t space;
	size_t stack_size;
	const uint8_t *stack;
};

static struct {
	struct trace *trace;
	struct arena arena;
	VEC(struct sample) samples;
	struct file {
		bool tried;
		struct ehframe *cfi;
		struct ehframe_table *table;
	} * files;
	uint32_t space; /* of the sample in hand */
	uint64_t rows;
	double build;
} all;

/* CPU time: what else runs on the machine does not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int collect(void *ctx, const struct event *ev)
{
	const struct event_extra *x = ev->extra;
	struct sample *s;
	struct unwind_regs regs;

	(void)ctx;
	if (ev->kind != EVENT_SAMPLE || !x || !x->stack || !x->regs ||
	    unwind_regs_from_perf(EM_X86_64, x->regs_abi, x->regs_mask, x->regs, &regs) < 0)
		return 0;
	s = vec_add(&all.samples);
	s->regs = regs;
	s->space = tasks_space_at(all.trace->tasks, ev->pid, ev->time);
	s->stack_size = x->stack_size;
	s->stack = arena_dup(&all.arena, x->stack, x->stack_size);
	return 0;
}

static void open_file(struct file *f, const char *path)
{
	double t = now();
	int err;

	f->tried = true;
	if (!strcmp(path, "[vdso]"))
		err = ehframe_open_mem((const void *)getauxval(AT_SYSINFO_EHDR), 8192,
				       EHFRAME_LOADED, &f->cfi, NULL);
	else
		err = ehframe_open(path, &f->cfi, NULL);
	if (!err && ehframe_build(f->cfi, &f->table, NULL) == 0)
		all.rows += f->table->n_rows;
	all.build += now() - t;
}

static bool find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	const struct task_map *m = tasks_find(all.trace->tasks, all.space, pc);
	struct file *f;

	(void)ctx;
	if (!m)
		return false;
	f = &all.files[m->dso];
	if (!f->tried)
		open_file(f, tasks_dso_path(all.trace->tasks, m->dso));
	*ret = (struct unwind_map){ m->start, m->end, m->pgoff, f->table, f->cfi };
	return true;
}

#define BATCH 64

/* Stacks of one process in a row, as readers hand them on. */
static void pass(uint64_t ends[UNWIND_END_MAX], uint64_t *frames, uint64_t *full, uint64_t *sum)
{
	static uint64_t chain[BATCH][1024 + 8];
	static struct unwind_known known[UNWIND_KNOWN];
	static struct unwind_job job[BATCH];
	struct unwind_cache cache = { .known = known };

	for (size_t i = 0, n; i < all.samples.n; i += n) {
		all.space = all.samples.data[i].space;
		unwind_cache_space(&cache, all.space);
		for (n = 0; n < BATCH && i + n < all.samples.n &&
			    all.samples.data[i + n].space == all.space;
		     n++) {
			const struct sample *s = &all.samples.data[i + n];

			job[n] = (struct unwind_job){ .in = { .regs = &s->regs,
							      .stack = s->stack,
							      .stack_size = s->stack_size,
							      .find = find },
						      .chain = chain[n],
						      .max = 1024 };
		}
		unwind_stacks(job, n, &cache);
		for (size_t k = 0; k < n; k++) {
			ends[job[k].ret.end]++;
			*frames += job[k].ret.n;
			*full += !!(job[k].ret.flags & UNWIND_USED_FULL);
			*sum += chain[k][job[k].ret.n - 1];
		}
	}
}

int main(int argc, char **argv)
{
	int passes = argc > 2 ? atoi(argv[2]) : 5;
	struct err e = { 0 };
	struct source *s;
	uint64_t sum = 0;

	if (argc < 2 || perfdata_open(argv[1], &s, &e) < 0) {
		fprintf(stderr, "%s\n",
			argc < 2 ? "bench-unwind_offline PERF.DATA [PASSES]" : e.msg);
		return 2;
	}
	all.trace = s->trace;
	all.files = mem_alloc(tasks_n_dsos(s->trace->tasks) * sizeof(*all.files));
	for (size_t c = 0; c < s->n_chunks; c++)
		s->read_chunk(s, c, collect, NULL, &e);
	if (!all.samples.n) {
		fprintf(stderr, "no sample has a copy of its stack\n");
		return 1;
	}
	for (int i = 0; i < passes; i++) {
		uint64_t ends[UNWIND_END_MAX] = { 0 }, frames = 0, full = 0;
		double t = now(), time;

		pass(ends, &frames, &full, &sum);
		time = now() - t;
		if (i == 0) {
			time -= all.build;
			printf("%zu stacks, %.1f frames each; tables of %" PRIu64
			       " rows built in %.1f ms\n",
			       all.samples.n, (double)frames / (double)all.samples.n, all.rows,
			       all.build * 1e3);
			for (int k = 0; k < UNWIND_END_MAX; k++)
				if (ends[k])
					printf("  %-12s %7" PRIu64 "  %6.2f %%\n",
					       unwind_end_name((enum unwind_end)k), ends[k],
					       100.0 * (double)ends[k] / (double)all.samples.n);
			printf("  full evaluation for %" PRIu64 " stacks\n", full);
		}
		printf("pass %d: %.2f M frames/s, %.0f ns a frame\n", i + 1,
		       (double)frames / time / 1e6, time * 1e9 / (double)frames);
	}
	for (size_t i = 0; i < tasks_n_dsos(s->trace->tasks); i++) {
		ehframe_table_free(all.files[i].table);
		ehframe_close(all.files[i].cfi);
	}
	free(all.files);
	vec_free(&all.samples);
	arena_free(&all.arena);
	source_close(s);
	return sum == 0;
}
