/* SPDX-License-Identifier: MIT */
/* Between places.c and places_names.c. Not for others. */
#ifndef KYMO_CALC_STACKS_PLACES_IMPL_H
#define KYMO_CALC_STACKS_PLACES_IMPL_H

#include "calc/stacks/places.h"

#define PLACE_NEAR 16384 /* bytes of code around an address that are written down */

/* The offset in its file; the call before a return address may be its function's last instruction.
 */
static inline uint64_t place_at(const struct place *p)
{
	return p->key_addr / 2 - (p->key_addr & 1);
}

/* Offsets of a file that are the same place; to is 0: only the one. */
struct place_span {
	uint64_t from, to;
};
/* Does it say what a place is that it was not made for? */
static inline bool place_span_has(const struct place_span *s, uint64_t at)
{
	at &= ~(uint64_t)((1u << PLACE_GRAIN) - 1);
	return at >= s->from && at < s->to && s->to - at >= 1u << PLACE_GRAIN;
}

/* All with the lock. */
void place_names_put_span(struct place_names *n, const struct place *p, struct place_span span,
			  uint32_t place);
void place_names_put(struct place_names *n, const struct place *p, uint32_t func);
uint32_t place_names_get(const struct place_names *n, const struct place *p);

/* What events there are, and their units. */
void place_names_types(struct place_names *n, bool counts);

#endif
