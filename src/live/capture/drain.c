/* SPDX-License-Identifier: MIT */
#include "live/capture/drain.h"

#include "base/pool.h"

#define MIN_RINGS 8u
#define RINGS_A_THREAD 4u
#define MAX_THREADS 16u

struct job {
	uint64_t head, at;
};

struct draining {
	struct capture *c;
	const struct drain_to *to;
	struct job *job; /* by ring */
};

/* One ring's pieces, one behind the other. */
struct placing {
	const struct drain_to *to;
	size_t ring;
	uint64_t at;
};

unsigned drain_threads(size_t rings)
{
	unsigned n = pool_threads() / RINGS_A_THREAD;

	if (rings < MIN_RINGS || n < 2)
		return 1;
	return n < MAX_THREADS ? n : MAX_THREADS;
}

static bool is_drained(const struct ring *r)
{
	return r->base && !r->backward;
}

static int put_piece(void *ctx, const void *data, size_t n, struct err *e)
{
	struct placing *p = ctx;
	int r = p->to->put(p->to->ctx, p->ring, p->at, data, n);

	(void)e;
	p->at += n;
	return r;
}

static int drain_one(void *ctx, size_t ring, unsigned worker)
{
	struct draining *d = ctx;
	struct placing p = { .to = d->to, .ring = ring, .at = d->job[ring].at };
	int64_t n;

	(void)worker;
	if (!is_drained(&d->c->ring[ring]))
		return 0;
	n = ring_drain_to(&d->c->ring[ring], d->job[ring].head, put_piece, &p, NULL);
	return n < 0 ? (int)n : 0;
}

int64_t drain_rings(struct capture *c, unsigned threads, uint64_t least, const struct drain_to *to,
		    struct err *e)
{
	AUTO_FREE struct job *job = mem_alloc((c->n_rings + 1) * sizeof(*job));
	struct draining d = { .c = c, .to = to, .job = job };
	uint64_t all = 0, at = 0;
	int r;

	for (size_t i = 0; i < c->n_rings; i++)
		if (is_drained(&c->ring[i])) {
			job[i].at = all;
			all += ring_waiting(&c->ring[i], &job[i].head);
		}
	if (all < least)
		return -EAGAIN;
	if (!all)
		return 0;
	r = to->place(to->ctx, all, &at, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->n_rings; i++)
		job[i].at += at;
	r = pool_run(c->n_rings, threads, drain_one, &d);
	return r < 0 ? r : (int64_t)all;
}
