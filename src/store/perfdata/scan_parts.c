/* SPDX-License-Identifier: MIT */
/*
 * Pass 1 by several threads.
 *
 * Where records begin is known only to who walked up to there. But FINISHED_ROUND records look
 * the same in every file: a part begins at one, or at bytes that only look so. What it found
 * counts when the walk of what is before ends exactly there; else it is thrown away. A part
 * ends early at a record that cannot be understood alone (one that describes the recording, is
 * compressed, or has no time), and who goes on there has all that was before.
 */
#include "base/pool.h"
#include "store/perfdata/impl.h"

size_t scan_part_bytes = (size_t)8 << 20;
#define PARTS 16

struct part {
	struct scan s;
	const uint8_t *start, *at, *stop, *end;
	struct perfdata pd; /* what its records change; the rest is the recording's */
};

static int run_part(void *ctx, size_t job, unsigned worker)
{
	struct part **part = ctx;
	struct part *p = part[job];

	return scan_run(&p->s, &p->at, p->stop, p->end);
}

static struct part *new_part(const struct scan *from, const uint8_t *start, const uint8_t *end)
{
	struct part *p = mem_alloc(sizeof(*p));
	struct perfdata *pd = &p->pd;

	p->start = p->at = start;
	p->stop = p->end = end;
	*pd = *from->pd;
	memset(&pd->chunks, 0, sizeof(pd->chunks));
	memset(&pd->sides, 0, sizeof(pd->sides));
	pd->side_copies = (struct arena){ 0 };
	memset(&pd->trace.losses, 0, sizeof(pd->trace.losses));
	memset(&pd->open, 0, sizeof(pd->open));
	pd->trace.first_time = pd->trace.last_time = 0;
	pd->max_time = pd->next_flush = pd->flushed = pd->last_sample_time = 0;
	pd->unaligned = 0;
	p->s = (struct scan){
		.pd = pd, .d = { .pd = pd }, .file = from->file, .base = from->base, .part = true
	};
	return p;
}

static void free_part(struct part *p)
{
	decoder_free(&p->s.d);
	vec_free(&p->pd.chunks);
	vec_free(&p->pd.sides);
	arena_free(&p->pd.side_copies);
	free(p);
}

static void add_losses(struct trace_losses *to, const struct trace_losses *from)
{
	to->lost_records += from->lost_records;
	to->lost_events += from->lost_events;
	to->lost_samples += from->lost_samples;
	to->throttled += from->throttled;
	to->bad_records += from->bad_records;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* As if the part had been walked after all that is before it. */
static void take_part(struct perfdata *pd, struct part *p)
{
	struct perfdata *of = &p->pd;

	vec_each (&of->chunks, c)
		vec_push(&pd->chunks, *c);
	vec_each (&of->sides, side)
		vec_push(&pd->sides, *side);
	arena_join(&pd->side_copies, &of->side_copies);
	add_losses(&pd->trace.losses, &of->trace.losses);
	if (of->trace.first_time &&
	    (of->trace.first_time < pd->trace.first_time || !pd->trace.first_time))
		pd->trace.first_time = of->trace.first_time;
	pd->trace.last_time = later(pd->trace.last_time, of->trace.last_time);
	/* the part begins with the end of a round; what it has seen of later ones, and what was
	 * before, is all */
	pd->flushed = of->flushed      ? later(pd->max_time, of->flushed)
		      : of->next_flush ? pd->max_time
				       : pd->next_flush;
	pd->next_flush = later(pd->max_time, of->next_flush);
	pd->max_time = later(pd->max_time, of->max_time);
	if (of->last_sample_time)
		pd->last_sample_time = of->last_sample_time;
	pd->unaligned |= of->unaligned;
}

/* Only where every record can be understood by itself. */
static bool may_split(const struct scan *s)
{
	const struct perfdata *pd = s->pd;

	return !pd->pipe && !pd->swap && !pd->any_read && !pd->mixed_time && !pd->layouts_stale &&
	       pd->layouts.n && pd->layouts.data[0].time && pd->layouts.data[0].tail_time;
}

static unsigned perfdata_scan_parts_cut(const struct scan *s, const uint8_t *start,
					const uint8_t *end, struct part **part)
{
	unsigned threads = pool_threads(), n = 1;
	size_t each = (size_t)(end - start) / threads;

	if (threads > PARTS)
		threads = PARTS;
	each = (size_t)(end - start) / threads;
	if (threads < 2 || each < scan_part_bytes)
		return 1;
	for (unsigned i = 1; i < threads; i++) {
		const uint8_t *from = start + i * each;
		const uint8_t *at = scan_next_round(s->pd, from, from + scan_part_bytes / 2);

		if (!at)
			continue;
		part[n] = new_part(s, at, end);
		part[n - 1]->stop = at;
		n++;
	}
	return n;
}

int scan_parts(struct scan *s, const uint8_t **at, const uint8_t *end)
{
	struct part *part[PARTS], first = { .at = *at, .stop = end, .end = end };
	unsigned n;
	int r = 0;

	if (!may_split(s))
		return 0;
	part[0] = &first;
	n = perfdata_scan_parts_cut(s, *at, end, part);
	if (n > 1) {
		first.s = *s;
		r = pool_run(n, n, run_part, part);
		*s = first.s;
		*at = first.at;
	}
	for (unsigned i = 1; i < n; i++) {
		if (r >= 0 && *at < part[i]->start) /* what ended early */
			r = scan_run(s, at, part[i]->start, end);
		if (r >= 0 && *at == part[i]->start && may_split(s)) {
			take_part(s->pd, part[i]);
			*at = part[i]->at;
		}
		free_part(part[i]);
	}
	return r;
}
