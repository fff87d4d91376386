/* SPDX-License-Identifier: MIT */
#include "store/perfdata/live.h"

#include "store/perfdata/impl.h"

/* Batches come one after the other, but what they hold overlaps a little in time. */
struct live {
	struct perfdata pd;
	perfdata_live_drain_fn *drain;
	void *ctx;
	struct strbuf got;	  /* this batch */
	struct strbuf late, kept; /* samples of batches before that wait, and of this one */
	uint64_t applied;	  /* time of the last side-band record */
	uint64_t newest;	  /* time of the newest sample that has come */
};

int perfdata_live_put(void *to, const void *data, size_t n, struct err *e)
{
	struct live *l = ((struct source *)to)->impl;

	strbuf_add(&l->got, data, n);
	return 0;
}

static void perfdata_live_close(struct source *s)
{
	struct live *l = s->impl;

	strbuf_free(&l->got);
	strbuf_free(&l->late);
	strbuf_free(&l->kept);
	perfdata_close(s);
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

/* Samples that wait from the last time. */
static void add_late(struct live *l)
{
	const uint8_t *p = (const uint8_t *)l->late.data;
	struct chunk c = { .start = p, .end = p + l->late.n, .unpacked = true };

	if (l->late.n)
		vec_push(&l->pd.chunks, c);
}

/* Every ring was looked at after what was the newest then had come: hardly anything older follows.
 */
static int perfdata_live_hand_out(struct live *l, uint64_t until, bool all, event_fn *fn, void *ctx,
				  struct err *e)
{
	struct perfdata *pd = &l->pd;
	int r = 0;

	if (!all || l->late.n) {
		add_late(l);
		r = read_until(pd, all ? UINT64_MAX : until, &l->kept, fn, ctx);
	} else {
		for (size_t i = 0; r == 0 && i < pd->chunks.n; i++)
			r = read_chunk(&pd->source, i, fn, ctx, e);
	}
	return r;
}

static int perfdata_live_poll(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	struct live *l = s->impl;
	struct perfdata *pd = &l->pd;
	struct strbuf done;
	uint64_t until = l->newest;
	int64_t n = l->drain(l->ctx, perfdata_live_put, s, e);
	const uint8_t *p = (const uint8_t *)l->got.data;
	int r = 0;

	if (n < 0)
		return (int)n;
	if (l->got.n)
		r = scan_unpacked(pd, &p, p + l->got.n, 0, 0, e);
	in_order(l);
	side_apply(pd);
	vec_each (&pd->chunks, c)
		l->newest = c->last > l->newest ? c->last : l->newest;
	if (r >= 0)
		r = perfdata_live_hand_out(l, until, all, fn, ctx, e);
	vec_each (&pd->chunks, c)
		free(c->values);
	pd->chunks.n = 0;
	l->got.n = 0; /* what events point to stays */
	done = l->late;
	l->late = l->kept;
	l->kept = done;
	l->kept.n = 0;
	return r;
}

struct source *perfdata_live_new(perfdata_live_drain_fn *drain, void *ctx)
{
	struct live *l = mem_alloc(sizeof(*l));
	struct perfdata *pd = &l->pd;

	l->drain = drain;
	l->ctx = ctx;
	pd->trace.tasks = tasks_new();
	pd->source = (struct source){ .trace = &pd->trace,
				      .format = "live",
				      .impl = pd,
				      .poll = perfdata_live_poll,
				      .close = perfdata_live_close };
	return &pd->source;
}

uint64_t perfdata_live_time(const struct source *s)
{
	return ((const struct live *)s->impl)->applied;
}
