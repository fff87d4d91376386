/* SPDX-License-Identifier: MIT */
/* Between calltree.c (what goes in) and calltree_split.c (the tree). */
#pragma once

#include "calc/stacks/calltree.h"
#include "calc/time/chart.h"

/* Distinct (side, label, stack), with its weight summed; in a flame chart, a piece of time or, of
 * stacks without times, an entry. */
struct calltree_item {
	const uint32_t *frame; /* ids of the side's frames, or of functions when collapsed */
	uint32_t n;
	uint32_t label; /* function, or CALLTREE_NO_LABEL */
	uint32_t side;
	uint32_t node; /* where it ended up */
	uint32_t next; /* + 1: another label of the same stack; 0: none */
	int64_t weight;
};
#define CALLTREE_NO_LABEL UINT32_MAX

struct calltree_build {
	const struct calltree_opts *o;
	struct calltree *t;
	struct map func_index; /* hash -> func + 1, chained through func_next */
	VEC(uint32_t) func_next;
	struct map labels;    /* who -> func + 1 */
	uint32_t *func_of[2]; /* frame -> function; NULL when items hold functions */
	uint32_t *rank;	      /* function -> place among the sorted names */
	VEC(struct calltree_item) items;
	struct arena paths; /* of collapsed stacks */
	struct chart chart; /* t->timed: an item for each of its pieces */
	int64_t sum[2];
};

/* From items, all in their order, to nodes. */
void calltree_split(struct calltree_build *b);
