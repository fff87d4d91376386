/* SPDX-License-Identifier: MIT */
/*
 * A tree of call paths that has branches only where many paths go.
 *
 * A node is closed at first: it says how many paths came there, and keeps the next
 * functions of each. When it has too many, it opens, and hands the paths on to its
 * children, which are closed again. So a path is followed as far as others go along,
 * and a million paths of which each is different cost a few steps each.
 *
 * What is kept of a path may be short; one that is needed longer than it is stays where
 * it is, as lost. The tree says where that matters, and the paths can be added
 * once more to a tree which is open in the right places.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define PREFIX_TREE_ROOT 0u
#define PREFIX_TREE_OPEN UINT32_MAX
#define PREFIX_TREE_SMALL UINT32_MAX
#define PREFIX_TREE_NODES ((1u << 30) - 1)
#define PREFIX_TREE_TAIL 250 /* functions of a path that can be kept */

/* What each path adds to stands first: of 48 bytes, the first 16 are always in one line of a cache.
 */
struct prefix_tree_node {
	uint64_t count, weight; /* of paths that end here, or are kept here, or lost */
	uint64_t lost;		/* weight of those that go on, nobody knows where */
	uint32_t parent, func;	/* a parent stands before its children */
	uint32_t
		held; /* the first of the paths kept here, + 1; PREFIX_TREE_OPEN: it has children */
	uint32_t held_last; /* and the last of them, + 1 */
	uint32_t n;	    /* paths kept; PREFIX_TREE_SMALL: none, it will never be opened */
};

/* The state stands here, too, so that who goes on need not ask the node. */
enum prefix_tree_state { PREFIX_TREE_CLOSED, PREFIX_TREE_IS_OPEN, PREFIX_TREE_IS_SMALL };
struct prefix_tree_at {
	uint32_t node : 30, state : 2;
};

struct prefix_tree_slot {
	_Alignas(16) uint64_t key; /* none lies in two lines of a cache; 0: it is free */
	struct prefix_tree_at at;
};

/* What is kept of paths: header, functions. Shared by trees that are merged later. */
#define PREFIX_TREE_STORES 15
struct prefix_tree_store {
	VEC(uint32_t) word;
	uint64_t common; /* the weight of a path that does not say it */
};

struct prefix_tree {
	VEC(struct prefix_tree_node) nodes;
	struct prefix_tree_slot *slot;
	size_t cap;
	unsigned shift;			 /* of a hash: what is left is where it belongs */
	struct prefix_tree_store *store; /* PREFIX_TREE_STORES of them */
	unsigned own;			 /* the one to write to */
	uint32_t last;			 /* the node that got the last path */
	size_t kept;			 /* paths that were written there */
	uint32_t most;			 /* paths that a node keeps before it opens */
};

void prefix_tree_init(struct prefix_tree *b, struct prefix_tree_store *stores, unsigned own,
		      uint32_t most);
void prefix_tree_free(struct prefix_tree *b);

static inline enum prefix_tree_state prefix_tree_state(const struct prefix_tree *b, uint32_t node)
{
	const struct prefix_tree_node *n = &b->nodes.data[node];

	return n->held == PREFIX_TREE_OPEN ? PREFIX_TREE_IS_OPEN
	       : n->n == PREFIX_TREE_SMALL ? PREFIX_TREE_IS_SMALL
					   : PREFIX_TREE_CLOSED;
}
/* Never 0: functions have no number as high as that. */
static inline uint64_t prefix_tree_key(uint32_t parent, uint32_t func)
{
	return ((uint64_t)parent << 32 | func) + 1;
}
/* The highest bits say where it belongs. */
static inline uint64_t prefix_tree_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return (key ^ key >> 32) * 0xd6e8feb86659fd93u;
}
/* A child will be asked for soon. */
static inline void prefix_tree_fetch(const struct prefix_tree *b, uint64_t hash)
{
	mem_fetch(&b->slot[hash >> b->shift]);
}
/* The slot of a child, or the free one where it belongs. */
static inline struct prefix_tree_slot *prefix_tree_slot_of(const struct prefix_tree *b,
							   uint64_t key, uint64_t hash)
{
	for (size_t at = hash >> b->shift;; at = (at + 1) & (b->cap - 1)) {
		struct prefix_tree_slot *s = &b->slot[at];

		if (s->key == key || !s->key)
			return s;
	}
}

const struct prefix_tree_slot *prefix_tree_new_child(struct prefix_tree *b, uint64_t key);
/* The child of an open node, made when missing. */
static inline struct prefix_tree_at prefix_tree_child_at(struct prefix_tree *b, uint64_t key,
							 uint64_t hash)
{
	const struct prefix_tree_slot *s = prefix_tree_slot_of(b, key, hash);

	if (__builtin_expect(!s->key, 0))
		s = prefix_tree_new_child(b, key);
	return s->at;
}
static inline struct prefix_tree_at prefix_tree_child(struct prefix_tree *b, uint32_t parent,
						      uint32_t func)
{
	uint64_t key = prefix_tree_key(parent, func);

	return prefix_tree_child_at(b, key, prefix_tree_hash(key));
}
/*
 * A path that came to a node. When that is closed, tail is what follows: the next n functions
 * (at most PREFIX_TREE_TAIL), and whether there are more.
 */
void prefix_tree_add(struct prefix_tree *b, uint32_t node, const uint32_t *tail, uint32_t n,
		     bool more, uint64_t weight);
/* One that ends at the node. */
static inline void prefix_tree_add_end(struct prefix_tree *b, uint32_t node, uint64_t weight)
{
	b->nodes.data[node].count++;
	b->nodes.data[node].weight += weight;
}
/* Everything of other, which is freed, and of which the store stays. */
void prefix_tree_merge(struct prefix_tree *b, struct prefix_tree *other);
/* Open every node that has at least so much weight. */
void prefix_tree_settle(struct prefix_tree *b, double least);
/* Is anything lost that may belong to a node of at least this weight? */
bool prefix_tree_lost(const struct prefix_tree *b, double least);
/* Closed nodes that cannot have this weight, whatever was lost, need not open the next time. */
void prefix_tree_mark_small(struct prefix_tree *b, double least);
/* Forget all paths, and keep the branches; or begin with those of another. */
void prefix_tree_clear(struct prefix_tree *b);
void prefix_tree_copy(struct prefix_tree *b, const struct prefix_tree *from);
/* Paths end at the last node of at least this weight. */
void prefix_tree_cut(struct prefix_tree *b, double least);
/* By node: the weight of all paths through it; for free(). */
uint64_t *prefix_tree_totals(const struct prefix_tree *b);
