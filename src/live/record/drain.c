/* SPDX-License-Identifier: MIT */
/*
 * From the rings to the file. Many rings are emptied by several threads: how much waits is looked
 * at once, each ring gets a place in the file, and all are written at the same time. One thread
 * writes some GB/s; dozens of CPUs make more.
 */
#include "base/pool.h"
#include "live/record/record.h"

#define WIDE_BYTES (4u << 20) /* less is written as fast by one thread */
#define MIN_RINGS 8u
#define RINGS_A_THREAD 4u
#define MAX_THREADS 16u

/* What tells of tasks is looked at, and gathered for the next file. By several threads. */
static void record_out_on_record(void *ctx, const struct perf_event_header *h)
{
	struct record_out *o = ctx;

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		if (o->counting)
			__atomic_fetch_add(&o->counted, 1, __ATOMIC_RELAXED);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_KSYMBOL:
		pthread_mutex_lock(&o->lock);
		if (o->keep)
			keep_record(o->keep, h);
		if (o->gathering)
			strbuf_add(&o->next, (const char *)h, h->size);
		pthread_mutex_unlock(&o->lock);
		break;
	default: break;
	}
}

int record_out_bytes(void *ctx, const void *data, size_t n, struct err *e)
{
	struct record_out *o = ctx;

	if (o->keep || o->gathering)
		ring_records_each(&o->pieces, data, n, record_out_on_record, o);
	return perfdata_write_bytes(o->w, data, n, e);
}

unsigned record_drain_threads(size_t rings)
{
	unsigned n = pool_threads() / RINGS_A_THREAD;

	if (rings < MIN_RINGS || n < 2)
		return 1;
	return n < MAX_THREADS ? n : MAX_THREADS;
}

struct draining {
	struct record_out *o;
	struct placing {
		struct record_out *o;
		struct ring_records *pieces;
		uint64_t head, at; /* where what waits ends, and where it goes in the file */
	} * ring;
};

static struct ring *drained(const struct record_out *o, size_t ring)
{
	struct ring *r = &o->capture->ring[ring];

	return r->base && !r->backward ? r : NULL;
}

static int put_piece(void *ctx, const void *data, size_t n, struct err *e)
{
	struct placing *p = ctx;
	struct record_out *o = p->o;
	int r;

	if (o->keep || o->gathering)
		ring_records_each(p->pieces, data, n, record_out_on_record, o);
	r = perfdata_write_at(o->w, p->at, data, n);
	p->at += n;
	return r;
}

static int drain_one(void *ctx, size_t ring, unsigned worker)
{
	struct draining *d = ctx;
	struct ring *r = drained(d->o, ring);
	int64_t n = r ? ring_drain_to(r, d->ring[ring].head, put_piece, &d->ring[ring], NULL) : 0;

	return n < 0 ? (int)n : 0;
}

/* By several threads; -EAGAIN, and nothing done, where that does not pay. */
static int64_t drain_wide(struct record_out *o, struct err *e)
{
	size_t n_rings = o->capture->n_rings;
	AUTO_FREE struct placing *ring = mem_alloc((n_rings + 1) * sizeof(*ring));
	struct draining d = { .o = o, .ring = ring };
	uint64_t all = 0, at = 0;
	int r;

	if (!o->ring_pieces)
		o->ring_pieces = mem_alloc(n_rings * sizeof(*o->ring_pieces));
	for (size_t i = 0; i < n_rings; i++)
		if (drained(o, i)) {
			ring[i] =
				(struct placing){ .o = o, .pieces = &o->ring_pieces[i], .at = all };
			all += ring_waiting(drained(o, i), &ring[i].head);
		}
	if (all < (o->opts->threads ? 1 : WIDE_BYTES))
		return -EAGAIN;
	r = perfdata_write_room(o->w, all, &at, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n_rings; i++)
		ring[i].at += at;
	r = pool_run(n_rings, o->threads, drain_one, &d);
	return r < 0 ? perfdata_write_failed(o->w, -r, e) : (int64_t)all;
}

int64_t record_out_drain(struct record_out *o, struct err *e)
{
	int64_t n = o->threads > 1 ? drain_wide(o, e) : -EAGAIN, idle;

	if (n == -EAGAIN)
		n = o->walked ? walked_drain(o->walked, false, record_out_bytes, o, e)
			      : capture_drain(o->capture, record_out_bytes, o, e);
	if (n < 0)
		return n;
	idle = idle_drain(o->idle, record_out_bytes, o, e);
	return idle < 0 ? idle : n + idle;
}
