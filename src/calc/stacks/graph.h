/* SPDX-License-Identifier: MIT */
/*
 * Call graphs of report rows: for each row a tree of the chains behind it,
 * pruned below a share, so that only what will be shown is ever built.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "calc/rows/hist.h"

enum graph_mode { GRAPH_ABSOLUTE, GRAPH_FRACTAL, GRAPH_FLAT, GRAPH_FOLDED };
enum graph_key { GRAPH_BY_FUNCTION, GRAPH_BY_ADDRESS, GRAPH_BY_LINE };
enum graph_value { GRAPH_PERCENT, GRAPH_PERIOD, GRAPH_COUNT };

struct graph_opts {
	enum graph_mode mode;
	enum graph_key key;
	enum graph_value value;
	double min_percent; /* branches below this are left out */
	unsigned limit;	    /* branches shown at one place; 0: all */
	bool relative;	    /* shares are of what filters left */
};

/* A run of places without a branch, and what branches off at its end. */
struct graph_node {
	uint32_t *place; /* for graphs_text() */
	uint32_t n_places;
	uint64_t weight; /* of everything through here */
	uint64_t count;
	uint64_t here, here_count;   /* of chains that end here */
	uint64_t below, below_count; /* of all children, pruned ones too */
	struct graph_node *child;    /* first child, heaviest first */
	struct graph_node *next;     /* sibling */
	/* Flat and folded: all nodes are roots, and each says what it hangs from. */
	const struct graph_node *parent;
};

/* By row of the hist; NULL where there is nothing to show. */
struct graphs {
	const struct cells *cells;
	struct graph_opts opts;
	struct graph_node **root;
	uint64_t *count; /* samples of all branches, pruned ones too; NULL: not asked for */
	size_t n;
	struct arena *arena; /* one a thread */
	unsigned n_arenas;
	/* A place is what the key tells apart: a function, an address, a line. */
	uint32_t *place_of;   /* by site */
	uint32_t *place_site; /* by place: one of its sites */
	uint32_t n_places;
};

void graphs_make(const struct hist *h, const struct graph_opts *o, struct graphs *ret);
void graphs_free(struct graphs *g);

/* A place as it is shown: the function, "0x..." without a name, a line behind it. */
const char *graphs_text(const struct graphs *g, uint32_t place, char *buf, size_t size);
