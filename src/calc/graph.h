/* SPDX-License-Identifier: MIT */
/*
 * Call graphs of report rows: for each row a tree of the chains behind it,
 * pruned below a share, so that only what will be shown is ever built.
 */
#ifndef KYMO_CALC_GRAPH_H
#define KYMO_CALC_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "calc/hist.h"

enum graph_mode { GRAPH_ABSOLUTE, GRAPH_FRACTAL, GRAPH_FLAT, GRAPH_FOLDED };

struct graph_opts {
	enum graph_mode mode;
	bool caller;	    /* from the outermost caller inwards; else from the function outwards */
	double min_percent; /* branches below this are left out */
};

/* A run of functions without a branch, and what branches off at its end. */
struct graph_node {
	uint32_t *frame;
	uint32_t n_frames;
	uint64_t weight; /* of everything through here */
	uint64_t count;
	uint64_t below;		  /* weight of all children, pruned ones too */
	struct graph_node *child; /* first child, heaviest first */
	struct graph_node *next;  /* sibling */
};

/* By row of the hist; NULL where there is nothing to show. */
struct graphs {
	struct graph_node **root;
	size_t n;
	struct arena *arena; /* one a thread */
	unsigned n_arenas;
};

void graphs_make(const struct hist *h, const struct graph_opts *o, struct graphs *ret);
void graphs_free(struct graphs *g);

#endif
