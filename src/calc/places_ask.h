/* SPDX-License-Identifier: MIT */
/*
 * place_find() in two steps, between which the memory where it stands is on its way: ask for
 * many, then take each. Inline, for who does nothing else a few million times.
 */
#ifndef KYMO_CALC_PLACES_ASK_H
#define KYMO_CALC_PLACES_ASK_H

#include "calc/places.h"

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

/* The number of an offset of a file of which whole functions are the same; NULL: there is none. */
static inline const uint16_t *place_text_at(const struct place_text *t, uint64_t at)
{
	return t && at >> PLACE_GRAIN < t->n ? &t->number[at >> PLACE_GRAIN] : NULL;
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

struct place_asked {
	const uint16_t *number; /* where it stands, + 1; NULL: it is func, or still to be found */
	uint32_t func;
};

__attribute__((always_inline)) static inline struct place_asked place_ask(
	struct place_reader *r, const struct place_part *part, uint64_t addr, bool caller)
{
	struct place_asked a = { 0 };
	const struct place_map *m;
	uint64_t key = addr * 2 + caller;
	uint32_t space = part->space;

	if (place_has_range(part->mode)) {
		struct place_range *g = place_range_of(r, part, addr);

		if (g->one) {
			a.func = g->func;
			return a;
		}
		if (!g->text)
			g->text = place_text_in(r->names, g->key);
		a.number = place_text_at(g->text, addr - g->shift - caller);
		if (a.number) {
			__builtin_prefetch(a.number);
			return a;
		}
		space = g->key;
		key = (addr - g->shift) * 2 + caller;
	}
	m = __atomic_load_n(&r->names->map, __ATOMIC_ACQUIRE);
	__builtin_prefetch(&m->slot[place_hash(key, space) & m->mask]);
	return a;
}

static inline uint32_t place_take(struct place_reader *r, const struct place_part *part,
				  uint64_t addr, bool caller, struct place_asked a)
{
	uint32_t func = a.number ? __atomic_load_n(a.number, __ATOMIC_RELAXED) : a.func;

	return func ? func - 1 : place_find(r, part, addr, caller);
}

#endif
