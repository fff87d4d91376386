/* SPDX-License-Identifier: MIT */
/*
 * Finding things by their hashes, for tables that compare and keep them themselves.
 *
 * Open addressing; a slot holds half a hash and an index + 1. So what has another hash is not
 * looked at, nor is anything when the table grows. A zeroed struct is empty.
 *
 * Tables of their own have, beside map.h, only those that lose by this one, and say why:
 * calc/stacks/prefix_tree.h, calc/stacks/graph_impl.h, calc/profile/names_sites.c and
 * view/script/site.c keep what is compared in the slot (nothing else is touched),
 * calc/slices/slices.c removes, sym/unwind/ehframe.c needs 2 bytes a slot and empties it for each file.
 */
#pragma once

#include <stdint.h>

#include "base/mem.h"

struct index {
	uint64_t *slot;
	size_t cap, n;
};

static inline void index_grow(struct index *x)
{
	uint64_t *old = x->slot;
	size_t old_cap = x->cap;

	x->cap = old_cap ? old_cap * 2 : 64;
	x->slot = mem_table(x->cap * sizeof(*x->slot), true);
	for (size_t i = 0; i < old_cap; i++) {
		size_t at = (old[i] >> 32) & (x->cap - 1);

		if (!old[i])
			continue;
		while (x->slot[at])
			at = (at + 1) & (x->cap - 1);
		x->slot[at] = old[i];
	}
	free(old);
}

/* The next slot from at on that is free or may be the one: 0 or 1 + index of what to compare. */
static inline uint32_t index_next(const struct index *x, uint64_t hash, size_t *at)
{
	while (x->slot[*at] && x->slot[*at] >> 32 != (uint32_t)hash)
		*at = (*at + 1) & (x->cap - 1);
	return (uint32_t)x->slot[*at];
}

/* Each that may be the one, as k, from index_first() on; then at is the free slot for a new one. */
#define index_each(x, hash, at, k) \
	for (; ((k) = index_next((x), (hash), &(at))); (at) = ((at) + 1) & ((x)->cap - 1))

static inline size_t index_first(struct index *x, uint64_t hash)
{
	if ((x->n + 1) * 2 > x->cap)
		index_grow(x);
	return (uint32_t)hash & (x->cap - 1);
}

static inline void index_set(struct index *x, size_t at, uint64_t hash, size_t n)
{
	x->slot[at] = hash << 32 | (uint32_t)n;
	x->n++;
}

static inline void index_free(struct index *x)
{
	free(x->slot);
	*x = (struct index){ 0 };
}

/* It will be looked for soon. */
static inline void index_fetch(const struct index *x, uint64_t hash)
{
	if (x->cap)
		mem_fetch(&x->slot[(uint32_t)hash & (x->cap - 1)]);
}

/* 1 + index of what is likely meant; 0: likely nothing. */
static inline uint32_t index_near(const struct index *x, uint64_t hash)
{
	uint64_t slot = x->cap ? x->slot[(uint32_t)hash & (x->cap - 1)] : 0;

	return slot >> 32 == (uint32_t)hash ? (uint32_t)slot : 0;
}
