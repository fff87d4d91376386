/* SPDX-License-Identifier: MIT */
/*
 * Pass 2 in brief, where all samples are plain ones of one event: nothing is looked at that is
 * not asked for.
 *
 * Nobody holds what was read so. That is why a file is not mapped for it: setting up and taking
 * down the page tables of a large one costs more than copying it into memory that is used again,
 * and that a cache holds.
 */

#include "store/perfdata/impl.h"

#define PIECE (128u << 10) /* bytes that are copied at once: more than any record */
#define AHEAD 512	   /* that are asked for before their turn */

struct briefs {
	struct perfdata *pd;
	const struct chunk *c;
	struct layout l;
	event_brief_fn *fn;
	void *ctx;
	size_t n;
	struct event_brief brief[EVENT_BRIEFS];
};

static int perfdata_brief_flush(struct briefs *b)
{
	size_t n = b->n;

	b->n = 0;
	return n ? b->fn(b->ctx, b->brief, n) : 0;
}

/* False: it is damaged. */
static inline bool perfdata_brief_take(struct event_brief *b, const struct layout *l,
				       const uint8_t *p, struct perfdata_event_header h)
{
	uint64_t room = h.size < l->fixed || (h.size & 7) ? 0 : (h.size - l->fixed) / 8u;
	unsigned mode = h.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	b->chain = (const uint64_t *)(p + l->fixed) + 1;
	if (!room || b->chain[-1] > room - 1)
		return false;
	b->chain_n = (uint32_t)b->chain[-1];
	b->mode = mode <= EVENT_MODE_GUEST_USER ? mode : EVENT_MODE_UNKNOWN;
	memcpy(&b->time, p + l->time, 8);
	memcpy(&b->ip, p + l->ip, 8);
	memcpy(&b->pid, p + l->tid, 4);
	memcpy(&b->tid, p + l->tid + 4, 4);
	b->cpu = UINT32_MAX;
	if (l->cpu)
		memcpy(&b->cpu, p + l->cpu, 4);
	b->type = l->type;
	b->weight = l->period;
	if (l->period_at)
		memcpy(&b->weight, p + l->period_at, 8);
	return true;
}

/* All whole records from *at on, which is then where they end. */
static int take_records(struct briefs *b, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	int r = 0;

	while (end - p >= 8 && r == 0) {
		struct perfdata_event_header h;

		__builtin_prefetch(p + AHEAD);
		memcpy(&h, p, sizeof(h));
		/* Checked in pass 1, but a file can change under us. */
		if (h.size < 8 || h.size > end - p)
			break;
		if (h.type == PERF_RECORD_SAMPLE) {
			if (!perfdata_brief_take(&b->brief[b->n], &b->l, p, h))
				chunk_bad(b->pd, b->c);
			else if (++b->n == EVENT_BRIEFS)
				r = perfdata_brief_flush(b);
		}
		p += h.size;
	}
	*at = p;
	return r ? r : perfdata_brief_flush(b);
}

static int take_copies(struct briefs *b, int fd)
{
	uint64_t at = b->c->position, left = (uint64_t)(b->c->end - b->c->start);
	_Alignas(16) uint8_t buf[PIECE];
	int r = 0;

	while (left >= 8 && r == 0) {
		ssize_t n = pread(fd, buf, left < PIECE ? (size_t)left : PIECE, (off_t)at);
		const uint8_t *p = buf;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		r = take_records(b, &p, buf + n);
		if (p == buf)
			break;
		at += (uint64_t)(p - buf);
		left -= (uint64_t)(p - buf);
	}
	return r;
}

int read_brief(struct source *s, size_t chunk, event_brief_fn *fn, void *ctx)
{
	struct perfdata *pd = s->impl;
	struct chunk *c = &pd->chunks.data[chunk];
	const struct perfdata_file *f = &pd->files.data[c->file];
	struct briefs b;
	const uint8_t *p = c->start;
	int r;

	/* not cleared: that would take as long as reading some */
	b.pd = pd;
	b.c = c;
	b.l = pd->layouts.data[0];
	b.fn = fn;
	b.ctx = ctx;
	b.n = 0;
	if (f->mapped && f->fd >= 0 && !c->unpacked)
		r = take_copies(&b, f->fd);
	else
		r = take_records(&b, &p, c->end);
	if (r == 0)
		chunk_counted(c);
	return r;
}
