/* SPDX-License-Identifier: MIT */
/* The records of several CPUs as one row in time order. */
#include "base/order.h"
#include "store/tracedat/impl.h"

struct lane {
	struct ringbuf rb;
	const uint8_t *data;
	const uint8_t *done;
	uint64_t size, at; /* at: of the page after this one */
	uint32_t page_size;
	struct tracedat_record rec; /* the next one */
};

struct tracedat_walk {
	const struct reader *r;
	VEC(struct lane) lanes;
	struct order order;
};

static bool lane_step(const struct reader *r, struct lane *l)
{
	while (!ringbuf_next(&l->rb, &l->rec.r)) {
		uint64_t left = l->size - l->at;

		if (!left)
			return false;
		reader_done(r, &l->done, l->data + l->at);
		ringbuf_start(&l->rb, l->data + l->at,
			      left < l->page_size ? (size_t)left : l->page_size);
		l->at += left < l->page_size ? left : l->page_size;
	}
	return true;
}

struct tracedat_walk *tracedat_walk_new(const struct reader *r, size_t buffer, uint32_t cpu)
{
	struct tracedat_walk *w = mem_alloc(sizeof(*w));

	w->r = r;
	for (size_t i = 0; i < r->buffers.n; i++) {
		const struct tracedat_buffer *b = &r->buffers.data[i];

		for (size_t k = 0; k < b->n_cpus && (buffer == SIZE_MAX || buffer == i); k++) {
			const struct tracedat_cpu *c = &b->cpus[k];
			struct lane l = { .rb = { .layout = r->t.layout },
					  .data = c->data,
					  .done = c->data,
					  .size = c->size,
					  .page_size = b->page_size,
					  .rec = { .cpu = c->cpu, .buffer = (uint32_t)i } };

			if (!c->data || (cpu != UINT32_MAX && cpu != c->cpu) || !lane_step(r, &l))
				continue;
			order_add(&w->order, l.rec.r.time, (uint32_t)w->lanes.n);
			vec_push(&w->lanes, l);
		}
	}
	return w;
}

const struct tracedat_record *tracedat_walk_peek(struct tracedat_walk *w)
{
	return w->order.n ? &w->lanes.data[order_row(&w->order)].rec : NULL;
}

bool tracedat_walk_next(struct tracedat_walk *w, struct tracedat_record *ret)
{
	struct lane *l;

	if (!w->order.n)
		return false;
	l = &w->lanes.data[order_row(&w->order)];
	*ret = l->rec;
	if (lane_step(w->r, l))
		order_next(&w->order, l->rec.r.time);
	else
		order_end(&w->order);
	return true;
}

void tracedat_walk_free(struct tracedat_walk *w)
{
	vec_free(&w->lanes);
	vec_free(&w->order);
	free(w);
}
