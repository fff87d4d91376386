/* SPDX-License-Identifier: MIT */
#include "calc/places.h"

#include <stdlib.h>

#include "base/map.h"

/* Where it stands, or the free slot it would get. */
static inline size_t slot_of(const struct place_set *s, uint64_t addr, uint32_t space, bool caller)
{
	size_t at = place_hash(addr, space, caller) & (s->cap - 1);

	for (; s->slot[at]; at = (at + 1) & (s->cap - 1)) {
		const struct place *p = &s->v.data[s->slot[at] - 1];

		if (p->addr == addr && p->space == space && p->caller == caller)
			break;
	}
	return at;
}

static void grow(struct place_set *s)
{
	free(s->slot);
	s->cap = s->cap ? s->cap * 2 : 4096;
	s->slot = mem_alloc(s->cap * sizeof(*s->slot));
	for (uint32_t i = 0; i < s->v.n; i++) {
		const struct place *p = &s->v.data[i];

		s->slot[slot_of(s, p->addr, p->space, p->caller)] = i + 1;
	}
}

static inline void add(struct place_set *s, const struct place *p)
{
	size_t at;

	if ((s->v.n + 1) * 2 > s->cap)
		grow(s);
	at = slot_of(s, p->addr, p->space, p->caller);
	if (!s->slot[at]) {
		vec_push(&s->v, *p);
		s->slot[at] = (uint32_t)s->v.n;
	}
}

/* Whose addresses follow a mark; -1: it says nothing of that. */
static int mode_of(uint64_t mark)
{
	switch (mark) {
	case EVENT_CHAIN_KERNEL: return EVENT_MODE_KERNEL;
	case EVENT_CHAIN_USER: return EVENT_MODE_USER;
	case EVENT_CHAIN_HV: return EVENT_MODE_HYPERVISOR;
	case EVENT_CHAIN_GUEST_KERNEL: return EVENT_MODE_GUEST_KERNEL;
	case EVENT_CHAIN_GUEST_USER: return EVENT_MODE_GUEST_USER;
	default: return -1;
	}
}

bool places_split(const struct event *ev, const struct profile_entry *who, struct place_parts *ret)
{
	struct place_part *p = ret->part;
	uint32_t first = 0;
	uint8_t mode = EVENT_MODE_USER;

	ret->n = 0;
	ret->ip = ev->chain;
	if (!(ev->have & EVENT_HAVE_CHAIN) || !ev->chain_n) { /* only where it was */
		ret->ip = &ev->ip;
		mode = (uint8_t)ev->mode;
		p[ret->n++] = (struct place_part){ .end = 1, .mode = mode };
	} else {
		for (uint32_t i = 0; i <= ev->chain_n; i++) {
			int now;

			if (i < ev->chain_n && ev->chain[i] < EVENT_CHAIN_MARK)
				continue;
			if (i > first)
				p[ret->n++] = (struct place_part){ .first = first,
								   .end = i,
								   .mode = mode };
			if (i == ev->chain_n)
				break;
			now = mode_of(ev->chain[i]);
			if (ret->n == PLACE_PARTS)
				return false;
			/* rubbish where a frame pointer was expected looks like a mark, and is none
			 */
			mode = now < 0 ? mode : (uint8_t)now;
			first = i + 1;
		}
	}
	for (uint32_t i = 0; i < ret->n; i++)
		p[i].space = p[i].mode == EVENT_MODE_KERNEL ? who->kernel : who->space;
	return true;
}

bool places_add(struct place_set *s, const struct event *ev, const struct profile_entry *who)
{
	struct place_parts parts;

	if (!places_split(ev, who, &parts))
		return false;
	for (uint32_t k = 0; k < parts.n; k++) {
		const struct place_part *p = &parts.part[k];

		for (uint32_t i = p->first; i < p->end; i++)
			add(s, &(struct place){ .addr = parts.ip[i],
						.space = p->space,
						.mode = p->mode,
						.caller = i > p->first });
	}
	return true;
}

void places_merge(struct place_set *s, struct place_set *other)
{
	vec_each (&other->v, p)
		add(s, p);
	places_free(other);
}

void places_free(struct place_set *s)
{
	vec_free(&s->v);
	free(s->slot);
	*s = (struct place_set){ 0 };
}
