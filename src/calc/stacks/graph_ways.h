/* SPDX-License-Identifier: MIT */
/*
 * Chains that count for rows on their way, as a tree of what they share. Inside graph.c's work.
 *
 * A chain of twenty frames counts for twenty rows. Told one by one they would be twenty references
 * for each chain; but chains begin alike, so that the tree of all their beginnings has about as
 * many nodes as there are chains, and each node stands for a row once, with the sum of all that
 * goes through it.
 *
 * Each thread grows a tree of its own from the entries that it takes. A tree that would get too
 * large takes no more, and then these chains are told one by one.
 */
#ifndef KYMO_CALC_STACKS_GRAPH_WAYS_H
#define KYMO_CALC_STACKS_GRAPH_WAYS_H

#include "calc/stacks/graph.h"

#define WAYS_NONE UINT32_MAX

struct way {
	uint64_t weight, count; /* of all chains through here */
	uint32_t child, n_children;
	uint32_t kind;
};

/* A node that counts for a row: the first of that row on its way. */
struct way_row {
	uint64_t own_weight, own_count; /* of chains that end here, and count as the row's own */
	uint32_t node, row;
};

/* A chain that ends in a row it has passed before: there it must not count twice. */
struct way_again {
	uint32_t entry, row;
	uint64_t at; /* in names->chain_sites: where it passed the row first */
};

struct way_bud {
	uint64_t weight, count, own_weight, own_count;
	uint32_t parent, n_children, kind;
	uint32_t row; /* it counts for; WAYS_NONE: somebody before it on the way does already */
};

/* All that tells a node apart, so that looking for one touches nothing else. */
struct way_slot {
	uint32_t parent, kind, node; /* node + 1 */
};

/* What sites are told apart by, for all trees: their place and the class of their row. */
struct ways_kinds {
	uint32_t *of; /* by site */
	uint32_t *place, *class;
	uint32_t n;
};

struct ways {
	/* These are there once it is finished. */
	struct way *way;
	VEC(struct way_row) rows;
	VEC(struct way_again) again;
	size_t max; /* so many nodes at most */
	/* inner workings: nodes as they come, where they are, and those of the chain before */
	VEC(struct way_bud) buds;
	struct way_slot *slot;
	size_t cap;
	uint32_t *kind, *node, *row;
	uint32_t n, room, class;
};

void ways_kinds_make(struct ways_kinds *k, const struct hist *h, const uint32_t *place_of);
void ways_kinds_free(struct ways_kinds *k);
/* Entry i's chain into the tree. false: the tree is full. */
bool ways_add(struct ways *t, const struct ways_kinds *k, const struct hist *h, size_t i);
/* Sums and children, once nothing more comes. */
void ways_finish(struct ways *t);
void ways_free(struct ways *t);

#endif
