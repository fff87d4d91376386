/* SPDX-License-Identifier: MIT */
/*
 * Pass 2: samples of one chunk, or everything in time order.
 *
 * For time order a window of (key, place) pairs is filled chunk by chunk and
 * sorted; all up to the lowest key of the chunks still to come can be handed
 * out. perf.data is nearly sorted, so the window stays at a few chunks, whatever
 * the size of the file.
 */
#include "store/perfdata/impl.h"

#include <sys/mman.h>

#include "base/sort.h"

static uint64_t chunk_position(const struct chunk *c, const uint8_t *p)
{
	return c->unpacked ? c->position : c->position + (uint64_t)(p - c->start);
}

/*
 * A chunk that was read may be read again, but need not stay in memory until then: a report of a
 * large file is to need no more than what it counts. The last few stay, because events may be
 * held for a while by who reads them.
 */
static void chunk_done(struct perfdata *pd, struct chunk *c)
{
	unsigned at = __atomic_fetch_add(&pd->n_done, 1, __ATOMIC_RELAXED) % ARRAY_SIZE(pd->done);

	if (c->unpacked || !pd->files.data[c->file].mapped || pd->files.data[c->file].stays)
		return;
	c = __atomic_exchange_n(&pd->done[at], c, __ATOMIC_RELAXED);
	if (c)
		mem_drop(c->start, (size_t)(c->end - c->start));
}

/* All of it will be looked at: it comes at once, which is faster than page by page. */
static void chunk_fetch(const struct chunk *c)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)c->start & ~(page - 1);

#ifdef MADV_POPULATE_READ
	madvise((void *)from, (uintptr_t)c->end - from, MADV_POPULATE_READ);
#else
	madvise((void *)from, (uintptr_t)c->end - from, MADV_WILLNEED);
#endif
}

int read_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	struct perfdata *pd = s->impl;
	struct chunk *c = &pd->chunks.data[chunk];
	const uint8_t *p = c->start;
	struct decoder d = { .pd = pd };
	int r = 0;

	if (!c->unpacked && pd->files.data[c->file].mapped)
		chunk_fetch(c);
	if (pd->any_read) {
		/* The slots were made by pass 1; the values are those at the chunk's start. */
		d.own.slot.cap = pd->readings.slot.cap;
		d.own.slot.n = pd->readings.slot.n;
		d.own.slot.slots =
			mem_dup(pd->readings.slot.slots,
				pd->readings.slot.cap * sizeof(*pd->readings.slot.slots));
		for (size_t i = 0; i < c->n_values; i++)
			vec_push(&d.own.value, c->values[i]);
	}
	/* sizes were checked in pass 1, but a mapped file can change under us */
	record_each (pd, p, h, c->end) {
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		if (!sample_decode(&d, p, h)) {
			chunk_bad(pd, c);
			continue;
		}
		d.ev.position = chunk_position(c, p);
		r = pd->any_read ? sample_deliver(&d, fn, ctx) : fn(ctx, &d.ev);
		if (r)
			break;
	}
	if (r == 0)
		chunk_counted(c);
	chunk_done(pd, c);
	decoder_free(&d);
	return r;
}

struct place {
	uint64_t key;
	const uint8_t *at;
	uint32_t chunk;
};

struct window {
	VEC(struct place) place, tmp;
};

SORT_STABLE(sort_places, struct place, key)

static int deliver(struct decoder *d, struct chunk *c, const uint8_t *p, event_fn *fn, void *ctx)
{
	struct perfdata_event_header h = record_header(d->pd, p);

	if (h.type != PERF_RECORD_SAMPLE) {
		side_decode(d, p, h);
		d->ev.position = chunk_position(c, p);
		return fn(ctx, &d->ev);
	}
	if (!sample_decode(d, p, h)) {
		chunk_bad(d->pd, c);
		return 0;
	}
	d->ev.position = chunk_position(c, p);
	return sample_deliver(d, fn, ctx);
}

/*
 * Samples with copies of stacks are far from each other: the start of one (header, chain,
 * registers) is asked for some samples before its turn, its end (how much was copied) when the
 * start is there.
 */
static void expect(const uint8_t *start, const uint8_t *near)
{
	struct perfdata_event_header h;

	for (unsigned i = 0; i < 5; i++)
		mem_fetch(start + 64u * i);
	memcpy(&h, near, sizeof(h));
	if (h.size > 512)
		mem_fetch(near + h.size - 8);
}

static bool perfdata_read_wanted(uint32_t type, bool all)
{
	return type == PERF_RECORD_SAMPLE || (all && type > 0 && type < PERFDATA_KERNEL_RECORD_END);
}

/* A chunk that is sorted and overlaps nothing goes straight through. */
static int stream_chunk(struct decoder *d, struct chunk *c, bool all, event_fn *fn, void *ctx)
{
	const uint8_t *p = c->start;

	record_each (d->pd, p, h, c->end) {
		int r;

		if (h.size > 512 && c->end - p > 3 * h.size + 320)
			expect(p + 2u * h.size, p + h.size);
		r = perfdata_read_wanted(h.type, all) ? deliver(d, c, p, fn, ctx) : 0;
		if (r)
			return r;
	}
	return 0;
}

static void fill_window(struct decoder *d, struct window *w, uint32_t chunk, bool all)
{
	struct perfdata *pd = d->pd;
	const struct chunk *c = &pd->chunks.data[chunk];
	const uint8_t *p = c->start;

	record_each (pd, p, h, c->end)
		if (perfdata_read_wanted(h.type, all)) {
			uint64_t key = record_time(d, p, h);
			struct place place = { key ? key : c->flushed, p, chunk };

			vec_push(&w->place, place);
		}
}

#define AHEAD 8u

static int drain_window(struct decoder *d, struct window *w, uint64_t limit, event_fn *fn,
			void *ctx)
{
	size_t i = 0;
	int r = 0;

	if (w->place.n) {
		vec_reserve(&w->tmp, w->place.n);
		sort_places(w->place.data, w->tmp.data, w->place.n);
	}
	for (; i < w->place.n && w->place.data[i].key <= limit && r == 0; i++) {
		if (i + AHEAD < w->place.n)
			expect(w->place.data[i + AHEAD].at, w->place.data[i + AHEAD / 2].at);
		r = deliver(d, &d->pd->chunks.data[w->place.data[i].chunk], w->place.data[i].at, fn,
			    ctx);
	}
	if (i)
		memmove(w->place.data, w->place.data + i,
			(w->place.n - i) * sizeof(*w->place.data));
	w->place.n -= i;
	return r;
}

static int by_first(const void *a, const void *b, void *ctx)
{
	const struct chunk *chunks = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (chunks[x].first != chunks[y].first)
		return chunks[x].first < chunks[y].first ? -1 : 1;
	return x < y ? -1 : 1;
}

/* One file is read from front to back; several, side by side. */
static uint32_t *chunk_order(const struct perfdata *pd)
{
	uint32_t *order = mem_alloc((pd->chunks.n + 1) * sizeof(*order));

	for (size_t i = 0; i < pd->chunks.n; i++)
		order[i] = (uint32_t)i;
	if (pd->files.n > 1)
		qsort_r(order, pd->chunks.n, sizeof(*order), by_first, pd->chunks.data);
	return order;
}

int read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct perfdata *pd = s->impl;
	size_t n = pd->chunks.n;
	AUTO_FREE uint32_t *order = chunk_order(pd);
	AUTO_FREE uint64_t *later = mem_alloc((n + 1) * sizeof(*later)); /* lowest key from i on */
	struct window w = { 0 };
	struct decoder d = { .pd = pd };
	int r = 0;

	later[n] = UINT64_MAX;
	for (size_t i = n; i-- > 0;) {
		uint64_t first = pd->chunks.data[order[i]].first;

		later[i] = first < later[i + 1] ? first : later[i + 1];
	}
	for (size_t i = 0; i < n && r == 0; i++) {
		struct chunk *c = &pd->chunks.data[order[i]];

		if (!w.place.n && c->sorted && c->last <= later[i + 1]) {
			r = stream_chunk(&d, c, all, fn, ctx);
			chunk_done(pd, c);
			continue;
		}
		fill_window(&d, &w, order[i], all);
		r = drain_window(&d, &w, later[i + 1], fn, ctx);
	}
	for (size_t i = 0; i < n && r == 0; i++)
		chunk_counted(&pd->chunks.data[i]);
	vec_free(&w.place);
	vec_free(&w.tmp);
	decoder_free(&d);
	return r;
}

int read_until(struct perfdata *pd, uint64_t limit, struct strbuf *rest, event_fn *fn, void *ctx)
{
	struct window w = { 0 };
	struct decoder d = { .pd = pd };
	int r;

	for (size_t i = 0; i < pd->chunks.n; i++)
		fill_window(&d, &w, (uint32_t)i, false);
	r = drain_window(&d, &w, limit, fn, ctx);
	vec_each (&w.place, place)
		strbuf_add(rest, (const char *)place->at, record_header(pd, place->at).size);
	vec_free(&w.place);
	vec_free(&w.tmp);
	decoder_free(&d);
	return r;
}
