/* SPDX-License-Identifier: MIT */
/* Counts as events: a track for each event, CPU and thread. */
#include "store/stat/statdata.h"

struct counting {
	event_fn *fn;
	void *ctx;
	uint64_t from; /* when the interval began */
};

/* What would have been counted, had the counter not to share its hardware. */
static double count_scaled(const struct statdata *d, const struct count *c)
{
	if (d->config.no_scale || !c->running || c->running >= c->enabled)
		return (double)c->value;
	return (double)c->value * (double)c->enabled / (double)c->running;
}

static int tell_round(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e)
{
	struct counting *c = ctx;
	int r = 0;

	for (size_t i = 0; i < d->set.n && time_ns > c->from; i++) {
		const struct count_event *of = &d->set.event[i];

		for (size_t k = 0; k < of->n_places && r == 0; k++) {
			const struct count_place *at = &of->place[k];
			if (of->count[k].enabled && !of->count[k].running)
				continue; /* others had the hardware all the time */
			struct event_side side = {
				.by_pid = -1,
				.by_tid = -1,
				.other_pid = -1,
				.other_tid = -1,
				.value = count_scaled(d, &of->count[k]) * of->scale,
				.length = time_ns - c->from,
			};
			struct event ev = {
				.kind = EVENT_COUNTER,
				.type = (uint32_t)i,
				.have = EVENT_HAVE_TIME | (at->cpu >= 0 ? EVENT_HAVE_CPU : 0) |
					(at->tid > 0 ? EVENT_HAVE_TASK : 0),
				.time = c->from,
				.pid = at->tid,
				.tid = at->tid,
				.cpu = (uint32_t)at->cpu,
				.side = &side,
			};

			r = c->fn(c->ctx, &ev);
		}
	}
	c->from = time_ns > c->from ? time_ns : c->from;
	return r;
}

int statdata_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e)
{
	/* an event at 0 would be one of which nobody knows when it was */
	struct counting c = { .fn = fn, .ctx = ctx, .from = 1 };
	struct statdata *d;
	int r;

	if (!all)
		return 0;
	r = statdata_open(s, &d, e);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	r = statdata_each(d, tell_round, &c, e);
	statdata_close(d);
	return r;
}
