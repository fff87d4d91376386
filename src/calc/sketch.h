/* SPDX-License-Identifier: MIT */
/*
 * Counters for call paths without keeping the paths: each path's weight is added to
 * the counter it hashes to, together with that of some others. So a counter says of a
 * path at most too much, never too little.
 */
#ifndef KYMO_CALC_SKETCH_H
#define KYMO_CALC_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "calc/trie.h"

#define SKETCH_BITS 20
#define SKETCH_START 1
/* A counter of single precision stops growing when it is 16 million times what is added. */
#define SKETCH_CERTAIN 0.01

/* The hash of a path that has one function more. */
static inline uint64_t sketch_extend(uint64_t hash, uint32_t func)
{
	hash = (hash ^ func) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static inline size_t sketch_slot(uint64_t hash)
{
	return (hash * 0xd6e8feb86659fd93u) >> (64 - SKETCH_BITS);
}

float *sketch_new(void); /* for free() */
/* A path and all that it begins with; hash is that of what comes before it. */
static inline void sketch_add(float *s, uint64_t hash, const uint32_t *func, size_t n,
			      uint64_t weight)
{
	float more = (float)weight;

	for (size_t i = 0; i < n; i++) {
		hash = sketch_extend(hash, func[i]);
		s[sketch_slot(hash)] += more;
	}
}
/* All paths of a tree. */
void sketch_take(float *s, const struct trie *t);
/* Add another one, and free it. */
void sketch_join(float *s, float *other);

#endif
