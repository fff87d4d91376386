/* SPDX-License-Identifier: MIT */
/* A tree of call paths that grows as paths are followed; numbers for functions. */
#ifndef KYMO_CALC_TRIE_H
#define KYMO_CALC_TRIE_H

#include <stdint.h>

#include "base/vec.h"

#define TRIE_ROOT UINT32_MAX

struct trie_node {
	uint32_t parent, func;	/* a parent stands before its children */
	uint64_t count, weight; /* of paths that end here */
};

struct trie {
	VEC(struct trie_node) nodes;
	uint32_t *slot; /* by (parent, func): node + 1 */
	size_t cap;
	uint64_t root_count, root_weight; /* of empty paths */
};

/* The child of a node, made when missing. */
uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t func);
void trie_add(struct trie *t, uint32_t node, uint64_t weight);
/* Everything of other into t; other is freed. */
void trie_merge(struct trie *t, struct trie *other);
/* By node: the weight of all paths that go through it; for free(). */
uint64_t *trie_totals(const struct trie *t);
/* Paths end at the last node that has at least this total. */
void trie_cut(struct trie *t, double least);
/*
 * Most paths have been followed this far only once, and most go on: few will be seen
 * beyond it. UINT32_MAX: there is no such depth.
 */
uint32_t trie_depth(const struct trie *t);
void trie_free(struct trie *t);

#endif
