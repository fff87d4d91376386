/* SPDX-License-Identifier: MIT */
/* Between graph.c and graph_*.c. Not for others. */
#pragma once

#include <stdatomic.h>

#include "base/vec.h"
#include "calc/stacks/graph.h"

/* --- graph_ways.c --- */

/*
 * Chains that count for rows on their way, as a tree of what they share.
 *
 * A chain of twenty frames counts for twenty rows. Told one by one they would be twenty references
 * for each chain; but chains begin alike, so that the tree of all their beginnings has about as
 * many nodes as there are chains, and each node stands for a row once, with the sum of all that
 * goes through it.
 *
 * Each thread grows a tree of its own from the entries that it takes. A tree that would get too
 * large takes no more, and then these chains are told one by one.
 */
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

/*
 * A row's samples are references into chains, and nodes of the trees above. A graph
 * is made from them top down: references are grouped by their next place, groups that are too
 * light are dropped before anyone looks at what lies behind them, and the rest is grouped again.
 * So the work is about what is shown, not about all that was recorded. Rows are
 * independent, so each CPU takes some.
 */
enum ref_kind {
	REF_CHAIN,   /* of one entry */
	REF_AGAIN,   /* the same, to be taken away: a node has it in its sum */
	REF_ROW_WAY, /* a node: all that goes through it but what has ended there */
	REF_WAY,
};

struct ref {
	uint64_t at : 62; /* in names->chain_sites: the next place; or the number of a node, or of
			     one that counts for a row */
	uint64_t kind : 2;
	uint32_t left;	/* how many are left, this one included; nodes: 1 */
	uint32_t entry; /* nodes: the tree */
};

struct load {
	uint64_t weight, count;
};

struct group {
	uint32_t place;
	uint64_t weight, count;
	size_t first, n; /* references that go on behind it */
};

/* What one thread needs to group references. */
struct bench {
	VEC(struct ref) stack; /* those of the branches being looked at, inner ones behind */
	uint32_t *next;	       /* places of the references being grouped */
	size_t cap;
	uint32_t *group_of; /* by place: index + 1 into the groups at hand */
	struct arena *arena;
	/* While references are collected. */
	struct hist_walk walk;
	struct ways ways;
	uint64_t *refs; /* by row: how many it will have */
	uint64_t *mine; /* by row: the next place of the block that was taken for it */
};

/* References are taken by the block, so that threads do not wait for each other at each one. */
#define BLOCK 32u

struct graph_work {
	const struct hist *h;
	const struct graph_opts *o;
	struct graphs *out;
	struct bench *bench; /* by worker */
	const struct names *names;
	struct ways_kinds kinds;
	bool *classes;		    /* by class of sites: some row of it has a graph */
	bool trees;		    /* of chains on their way, rather than each by itself */
	bool *apart;		    /* by entry: no tree has it; NULL: there are no trees */
	bool *idle;		    /* by entry: it counts for no row that has a graph */
	uint64_t *wanted;	    /* by row: how many references it has */
	atomic_uint_fast64_t *fill; /* by row: where its next references go */
	uint64_t *first;	    /* by row */
	size_t n_rows;		    /* behind these, none has a graph */
	size_t lo, hi;		    /* rows of this batch */
	struct ref *refs;
	size_t refs_cap;
	int step; /* +1 outwards, -1 inwards */
};

/* Below 0 when a place stands before the other among branches of equal weight. */
int places_order(const struct graphs *g, uint32_t a, uint32_t b);

/* --- graph_tree.c --- */
/* The least weight of a branch; all: of the branches beside it. */
uint64_t graph_limit(const struct graph_work *w, uint64_t all);
/* The graph of n references. *count: samples of all of it. */
struct graph_node *graph_tree(const struct graph_work *w, struct bench *b, const struct ref *refs,
			      size_t n, uint64_t *count);

/* --- graph_refs.c: jobs for pool_run(), ctx is the graph_work --- */
size_t graph_entry_jobs(const struct graph_work *w);
/* Trees of all chains, and how many references each row will have; a job for some entries. */
int graph_plant_job(void *ctx, size_t job, unsigned worker);
/* One for each thread's tree. */
int graph_finish_job(void *ctx, size_t job, unsigned worker);
/* The references of this batch: jobs for entries, and behind them one for each tree. */
int graph_add_job(void *ctx, size_t job, unsigned worker);
/* What blocks have left over is closed up; how many references the row has. */
uint64_t graph_close_gaps(const struct graph_work *w, size_t row);
