/* SPDX-License-Identifier: MIT */
#include "store/perfdata/live.h"

#include "store/perfdata/impl.h"

/* Batches come one after the other, but what they hold overlaps a little in time. */
struct live {
	struct perfdata pd;
	uint64_t applied; /* time of the last side-band record */
};

static int no_chunk(struct source *s, size_t chunk, event_fn *fn, void *ctx, struct err *e)
{
	(void)s;
	(void)chunk;
	(void)fn;
	(void)ctx;
	(void)e;
	return 0;
}

static int no_order(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	(void)all;
	return no_chunk(s, 0, fn, ctx, e);
}

struct source *perfdata_live_new(void)
{
	struct live *l = mem_alloc(sizeof(*l));
	struct perfdata *pd = &l->pd;

	pd->trace.tasks = tasks_new();
	pd->source = (struct source){ .trace = &pd->trace,
				      .format = "live",
				      .impl = pd,
				      .read_chunk = no_chunk,
				      .read_ordered = no_order,
				      .close = perfdata_close };
	return &pd->source;
}

int perfdata_live_event(struct source *s, const struct perfdata_event *ev, struct err *e)
{
	struct perfdata *pd = s->impl;
	int r = attr_add(pd, (const uint8_t *)&ev->attr, sizeof(ev->attr), (const uint8_t *)ev->ids,
			 ev->n_ids, e);

	if (r == 0)
		pd->types.data[pd->types.n - 1].name = arena_strdup(&pd->trace.arena, ev->name);
	return r;
}

void perfdata_live_start(struct source *s)
{
	struct perfdata *pd = s->impl;

	attr_layouts(pd);
	attr_finish(pd);
}

static int perfdata_live_by_time(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Tasks take their history in order: what is late by a moment counts as now. */
static void in_order(struct live *l)
{
	struct perfdata *pd = &l->pd;

	if (pd->sides.n)
		qsort(pd->sides.data, pd->sides.n, sizeof(*pd->sides.data), perfdata_live_by_time);
	vec_each (&pd->sides, side) {
		if (side->time < l->applied && side->time)
			side->time = l->applied;
		if (side->time > l->applied)
			l->applied = side->time;
	}
}

int perfdata_live_feed(struct source *s, const void *data, size_t n, event_fn *fn, void *ctx,
		       struct err *e)
{
	struct perfdata *pd = s->impl;
	const uint8_t *p = data, *end = p + n;
	int r = scan_unpacked(pd, &p, end, 0, 0, e);

	in_order((struct live *)pd);
	side_apply(pd);
	for (size_t i = 0; r == 0 && i < pd->chunks.n; i++)
		r = read_chunk(s, i, fn, ctx, e);
	vec_each (&pd->chunks, c)
		free(c->values);
	pd->chunks.n = 0;
	return r < 0 ? r : 0;
}

uint64_t perfdata_live_time(const struct source *s)
{
	return ((const struct live *)s->impl)->applied;
}
