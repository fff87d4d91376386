/* SPDX-License-Identifier: MIT */
/* The records of several CPUs as one row in time order. */
#include "store/tracedat/impl.h"

struct lane {
	struct ringbuf rb;
	const uint8_t *data;
	const uint8_t *done;
	uint64_t size, at; /* at: of the page after this one */
	uint32_t page_size, cpu, buffer;
	bool live; /* rec holds the next record */
	struct ringbuf_record rec;
};

struct tracedat_walk {
	const struct reader *r;
	struct lane *lanes;
	size_t n;
	size_t best;	 /* the lane whose record is next */
	uint64_t second; /* the earliest of all others */
	bool settled;	 /* best and second hold */
};

static void lane_step(const struct reader *r, struct lane *l)
{
	while (!ringbuf_next(&l->rb, &l->rec)) {
		uint64_t left = l->size - l->at;

		if (!left) {
			l->live = false;
			return;
		}
		reader_done(r, &l->done, l->data + l->at);
		ringbuf_start(&l->rb, l->data + l->at,
			      left < l->page_size ? (size_t)left : l->page_size);
		l->at += left < l->page_size ? left : l->page_size;
	}
	l->live = true;
}

struct tracedat_walk *tracedat_walk_new(const struct source *s, size_t buffer,
					bool (*wants)(void *ctx, uint32_t cpu), void *ctx)
{
	const struct reader *r = reader_of(s);
	struct tracedat_walk *w = mem_alloc(sizeof(*w));
	size_t most = 0;

	for (size_t i = 0; i < r->buffers.n; i++)
		most += r->buffers.data[i].n_cpus;
	w->r = r;
	w->lanes = mem_alloc((most + 1) * sizeof(*w->lanes));
	for (size_t i = 0; i < r->buffers.n; i++) {
		const struct tracedat_buffer *b = &r->buffers.data[i];

		for (size_t k = 0; k < b->n_cpus && (buffer == SIZE_MAX || buffer == i); k++) {
			const struct tracedat_cpu *c = &b->cpus[k];
			struct lane *l = &w->lanes[w->n];

			if (!c->data || !c->size || (wants && !wants(ctx, c->cpu)))
				continue;
			*l = (struct lane){ .rb = { .layout = r->t.layout },
					    .data = c->data,
					    .done = c->data,
					    .size = c->size,
					    .page_size = b->page_size,
					    .cpu = c->cpu,
					    .buffer = (uint32_t)i };
			lane_step(r, l);
			w->n++;
		}
	}
	return w;
}

/* The earliest lane, the first of equals; and how long it stays so. */
static bool tracedat_walk_settle(struct tracedat_walk *w)
{
	uint64_t first = UINT64_MAX;
	bool any = false;

	w->second = UINT64_MAX;
	for (size_t i = 0; i < w->n; i++) {
		const struct lane *l = &w->lanes[i];

		if (!l->live)
			continue;
		if (!any || l->rec.time < first) {
			if (any)
				w->second = first < w->second ? first : w->second;
			first = l->rec.time;
			w->best = i;
			any = true;
		} else if (l->rec.time < w->second) {
			w->second = l->rec.time;
		}
	}
	w->settled = any;
	return any;
}

bool tracedat_walk_peek(struct tracedat_walk *w, struct tracedat_record *ret)
{
	const struct lane *l;

	if (!w->settled && !tracedat_walk_settle(w))
		return false;
	l = &w->lanes[w->best];
	*ret = (struct tracedat_record){ .r = l->rec, .cpu = l->cpu, .buffer = l->buffer };
	return true;
}

bool tracedat_walk_next(struct tracedat_walk *w, struct tracedat_record *ret)
{
	struct lane *l;

	if (!tracedat_walk_peek(w, ret))
		return false;
	l = &w->lanes[w->best];
	lane_step(w->r, l);
	w->settled = l->live && l->rec.time < w->second;
	return true;
}

void tracedat_walk_free(struct tracedat_walk *w)
{
	if (!w)
		return;
	free(w->lanes);
	free(w);
}
