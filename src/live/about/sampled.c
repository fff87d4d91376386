/* SPDX-License-Identifier: MIT */
#include "live/about/sampled.h"

#include <string.h>

#include "base/pool.h"
#include "event/waker.h"

/* Addresses repeat: each worker remembers mappings and kernel addresses it saw last, in slots. */
#define SLOTS 512u
#define SLOT_SHIFT 16
#define SLOTS_KERNEL 4096u

struct seen {
	uint64_t from, until;
	uint32_t space;
};

struct worker {
	struct seen seen[SLOTS];
	uint64_t seen_kernel[SLOTS_KERNEL];
	uint8_t *dso; /* by dso: was hit */
	struct map kernel;
};

struct work {
	struct source *s;
	struct worker *w;
	size_t n_dsos;
};

struct reader {
	struct work *work;
	struct worker *w;
	struct seen last;
};

static bool in(const struct seen *s, uint32_t space, uint64_t addr)
{
	return addr >= s->from && addr < s->until && space == s->space;
}

static void hit(struct reader *r, uint32_t space, uint64_t addr)
{
	const struct task_map *m;
	struct seen *seen;

	/* most functions are called from the same file */
	if (in(&r->last, space, addr))
		return;
	seen = &r->w->seen[((addr >> SLOT_SHIFT) ^ space) % SLOTS];
	if (!in(seen, space, addr)) {
		seen->space = space;
		m = tasks_find_range(r->work->s->trace->tasks, space, addr, &seen->from,
				     &seen->until);
		if (m && m->dso < r->work->n_dsos)
			r->w->dso[m->dso] = 1;
	}
	r->last = *seen;
}

/* What an address is: where a CPU was, or where a call returns to. */
enum role { ROLE_AT = 1, ROLE_RETURN = 2 };

static void hit_kernel(struct reader *r, uint64_t addr, enum role role)
{
	uint64_t key = addr << 2 | role, *slot = &r->w->seen_kernel[map_hash(key) % SLOTS_KERNEL];

	if (*slot == key || !addr)
		return;
	*slot = key;
	*map_at(&r->w->kernel, addr) |= role;
	hit(r, TASK_SPACE_KERNEL, addr);
}

/* Whoever ended a wait has a stack, too. */
static void hit_waker(struct reader *r, const struct event *ev)
{
	struct waker w;
	uint32_t user;

	if (!waker_of(ev, &w))
		return;
	user = tasks_space_at(r->work->s->trace->tasks, w.head->pid, ev->time);
	for (uint32_t i = 0; i < w.head->n_kernel; i++)
		hit_kernel(r, w.kernel[i], ROLE_RETURN);
	for (uint32_t i = 0; i < w.head->n_user; i++)
		hit(r, user, w.user[i]);
}

static int sampled_on_sample(void *ctx, const struct event *ev)
{
	struct reader *r = ctx;
	uint32_t user = tasks_space_at(r->work->s->trace->tasks, ev->pid, ev->time);
	bool kernel = ev->mode == EVENT_MODE_KERNEL;

	if ((ev->have & EVENT_HAVE_IP) && kernel)
		hit_kernel(r, ev->ip, ROLE_AT);
	else if (ev->have & EVENT_HAVE_IP)
		hit(r, user, ev->ip);
	for (uint32_t i = 0; (ev->have & EVENT_HAVE_CHAIN) && i < ev->chain_n; i++) {
		if (ev->chain[i] >= EVENT_CHAIN_MARK)
			kernel = ev->chain[i] == EVENT_CHAIN_KERNEL;
		else if (kernel)
			hit_kernel(r, ev->chain[i], ev->chain[i] == ev->ip ? ROLE_AT : ROLE_RETURN);
		else
			hit(r, user, ev->chain[i]);
	}
	hit_waker(r, ev);
	return 0;
}

static int chunk_job(void *ctx, size_t chunk, unsigned worker)
{
	struct work *work = ctx;
	struct reader r = { .work = work, .w = &work->w[worker] };
	struct err e = { 0 };

	return work->s->read_chunk(work->s, chunk, sampled_on_sample, &r, &e);
}

static void add_kernel(struct map *all, uint64_t addr, struct sampled *ret)
{
	uint64_t *at = map_at(all, addr);

	if (!*at)
		vec_push(&ret->kernel, addr);
	*at = 1;
}

static void sampled_merge(const struct worker *w, unsigned n, size_t n_dsos, struct sampled *ret)
{
	struct map all = { 0 };

	for (unsigned i = 0; i < n; i++) {
		for (size_t d = 0; d < n_dsos; d++)
			ret->dso[d] |= w[i].dso[d];
		for (size_t k = 0; k < w[i].kernel.cap; k++) {
			const struct map_slot *s = &w[i].kernel.slots[k];

			if (s->used)
				add_kernel(&all, s->key, ret);
			/* it can be the first one behind the function that called */
			if (s->used && (s->value & ROLE_RETURN))
				add_kernel(&all, s->key - 1, ret);
		}
	}
	map_free(&all);
}

int sampled_find(struct source *s, struct sampled *ret, struct err *e)
{
	unsigned threads = pool_threads();
	AUTO_FREE struct worker *w = mem_alloc(threads * sizeof(*w));
	struct work work = { .s = s, .w = w, .n_dsos = tasks_n_dsos(s->trace->tasks) };
	int r;

	*ret = (struct sampled){ .dso = mem_alloc(work.n_dsos + 1) };
	for (unsigned i = 0; i < threads; i++)
		w[i].dso = mem_alloc(work.n_dsos + 1);
	r = pool_run(s->n_chunks, threads, chunk_job, &work);
	sampled_merge(w, threads, work.n_dsos, ret);
	for (unsigned i = 0; i < threads; i++) {
		free(w[i].dso);
		map_free(&w[i].kernel);
	}
	return r < 0 ? err_set(e, -r, "cannot read the recording back: %s", strerror(-r)) : 0;
}

void sampled_free(struct sampled *h)
{
	free(h->dso);
	vec_free(&h->kernel);
	*h = (struct sampled){ 0 };
}
