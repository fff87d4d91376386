/* SPDX-License-Identifier: MIT */
#include "live/hits.h"

#include <string.h>

#include "base/pool.h"

/*
 * Addresses repeat, so each worker remembers which (space, page) it has seen
 * last in each of some thousand slots, and looks only others up.
 */
#define SLOTS 16384u
#define PAGE_SHIFT 12

struct worker {
	uint64_t seen[SLOTS];
	uint8_t *dso; /* by dso: was hit */
	bool kernel;
};

struct work {
	struct source *s;
	struct worker *w;
	size_t n_dsos;
};

struct reader {
	struct work *work;
	struct worker *w;
};

static void hit(struct reader *r, uint32_t space, uint64_t addr)
{
	uint64_t key = map_hash((addr >> PAGE_SHIFT) ^ ((uint64_t)space << 40)) | 1;
	const struct task_map *m;

	if (r->w->seen[key % SLOTS] == key)
		return;
	r->w->seen[key % SLOTS] = key;
	m = tasks_find(r->work->s->trace->tasks, space, addr);
	if (m && m->dso < r->work->n_dsos)
		r->w->dso[m->dso] = 1;
}

static int on_sample(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	const struct tasks *tasks = r->work->s->trace->tasks;
	uint32_t user = tasks_space_at(tasks, ev->pid, ev->time);
	bool kernel = ev->mode == EVENT_MODE_KERNEL;

	if (kernel)
		r->w->kernel = true;
	if (ev->have & EVENT_HAVE_IP)
		hit(r, kernel ? TASK_SPACE_KERNEL : user, ev->ip);
	kernel = false;
	for (uint32_t i = 0; (ev->have & EVENT_HAVE_CHAIN) && i < ev->chain_n; i++) {
		if (ev->chain[i] >= EVENT_CHAIN_MARK) {
			kernel = ev->chain[i] == EVENT_CHAIN_KERNEL;
			r->w->kernel |= kernel;
			continue;
		}
		hit(r, kernel ? TASK_SPACE_KERNEL : user, ev->chain[i]);
	}
	return 0;
}

static int chunk_job(void *ctx, size_t chunk, unsigned worker)
{
	struct work *work = ctx;
	struct reader r = { .work = work, .w = &work->w[worker] };
	struct err e = { 0 };

	return work->s->read_chunk(work->s, chunk, on_sample, &r, &e);
}

int hits_find(struct source *s, bool all,
	      void (*fn)(void *ctx, const struct task_dso *d, const char *path), void *ctx,
	      struct hits_result *ret, struct err *e)
{
	unsigned threads = pool_threads();
	AUTO_FREE struct worker *w = mem_alloc(threads * sizeof(*w));
	struct work work = { .s = s, .w = w, .n_dsos = tasks_n_dsos(s->trace->tasks) };
	int r;

	for (unsigned i = 0; i < threads; i++)
		w[i].dso = mem_alloc(work.n_dsos + 1);
	r = pool_run(s->n_chunks, threads, chunk_job, &work);
	for (size_t d = 0; r >= 0 && d < work.n_dsos; d++) {
		const struct task_dso *dso = tasks_get_dso(s->trace->tasks, (uint32_t)d);
		bool was = all;

		for (unsigned i = 0; i < threads; i++)
			was = was || w[i].dso[d];
		/* the kernel itself is told of by the caller, who knows its identity */
		if (was && !dso->kernel)
			fn(ctx, dso, tasks_dso_path(s->trace->tasks, (uint32_t)d));
	}
	for (unsigned i = 0; i < threads; i++) {
		ret->kernel |= w[i].kernel;
		free(w[i].dso);
	}
	return r < 0 ? err_set(e, -r, "cannot read the recording back: %s", strerror(-r)) : 0;
}
