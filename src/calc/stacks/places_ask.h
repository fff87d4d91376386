/* SPDX-License-Identifier: MIT */
/*
 * place_find() in two steps, between which the memory where it stands is on its way: ask for
 * many, then take each. Inline, for who does nothing else a few million times.
 */
#pragma once

#include "calc/stacks/places.h"

/* Neighbours stay neighbours: 64 bytes of code have slots side by side. */
static inline uint64_t place_hash(uint64_t addr, uint32_t space)
{
	uint64_t x = ((addr >> 7) + ((uint64_t)space << 40)) * 0x9e3779b97f4a7c15u;

	return (x >> 32 & ~(uint64_t)15) | (addr >> 3 & 15);
}

static inline const struct place_text *place_text_in(const struct place_names *n, uint32_t space)
{
	uint32_t file = space & ~PLACE_DSO;

	return (space & PLACE_DSO) && file < n->n_texts
		       ? __atomic_load_n(&n->text[file], __ATOMIC_ACQUIRE)
		       : NULL;
}

/* Where the number of an offset of a file stands. */
static inline uint64_t place_number(uint64_t at)
{
	return (at + (1u << PLACE_GRAIN)) >> PLACE_GRAIN;
}
static inline const uint16_t *place_text_at(const struct place_text *t, uint64_t at)
{
	return t && place_number(at) < t->n ? &t->number[place_number(at)] : NULL;
}

/* Mappings of a recorded virtual machine are not known. */
static inline bool place_has_range(uint8_t mode)
{
	return mode == EVENT_MODE_USER || mode == EVENT_MODE_KERNEL;
}
static inline struct place_range *place_range_slot(struct place_reader *r, uint32_t space,
						   uint64_t addr)
{
	return &r->range[((addr >> 21) + space * 0x9e3779b1u) % ARRAY_SIZE(r->range)];
}
static inline uint8_t *place_nearest(struct place_reader *r, uint64_t addr)
{
	return &r->nearest[(addr >> 28) % ARRAY_SIZE(r->nearest)];
}
static inline bool place_range_has(const struct place_range *g, uint32_t space, uint64_t addr)
{
	return g->space == space && addr - g->from < g->size;
}
struct place_range *place_range_find(struct place_reader *r, const struct place_part *part,
				     uint64_t addr);
static inline struct place_range *place_range_of(struct place_reader *r,
						 const struct place_part *part, uint64_t addr)
{
	struct place_range *g = place_range_slot(r, part->space, addr);

	if (place_range_has(g, part->space, addr))
		return g;
	g = &r->nowhere[*place_nearest(r, addr)];
	return place_range_has(g, part->space, addr) ? g : place_range_find(r, part, addr);
}

/*
 * Where the number of the function stands, + 1: there soon. 0: place_find() knows, or nobody does.
 * g is the address's range.
 */
static inline const uint16_t *place_ask(const struct place_range *g, uint64_t addr, bool caller)
{
	const uint16_t *number = &g->number[place_number(addr - g->shift - caller) & g->several];

	__builtin_prefetch(number);
	return number;
}

static inline uint32_t place_take(struct place_reader *r, const struct place_part *part,
				  uint64_t addr, bool caller, const uint16_t *number)
{
	uint32_t func = __atomic_load_n(number, __ATOMIC_RELAXED);

	return func - 1 < PLACE_FUNCTIONS ? func - 1 : place_find(r, part, addr, caller);
}

/* --- between places.c and places_names.c --- */

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
