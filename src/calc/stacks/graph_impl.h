/* SPDX-License-Identifier: MIT */
/* Between graph.c and graph_*.c. Not for others. */
#ifndef KYMO_CALC_STACKS_GRAPH_IMPL_H
#define KYMO_CALC_STACKS_GRAPH_IMPL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "calc/stacks/graph.h"
#include "calc/stacks/graph_ways.h"

/*
 * A row's samples are references into chains, and nodes of the trees in graph_ways.h. A graph
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

/* --- graph_place.c --- */
/* Places of all sites. */
void places_make(struct graphs *g, const struct names *n);
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

#endif
