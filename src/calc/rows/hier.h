/* SPDX-License-Identifier: MIT */
/*
 * A report as a tree: rows below rows, a level for each sort key (or {group} of
 * keys). The lowest ones are the rows of the hist; those above are their sums.
 */
#pragma once

#include "calc/rows/hist.h"

struct hier_node {
	uint32_t depth; /* 0: top */
	uint32_t child; /* first, HIST_NO_ROW for the lowest */
	uint32_t next;	/* sibling */
	uint32_t row;	/* of the hist, for the lowest ones; else HIST_NO_ROW */
};

struct hier {
	const struct hist *hist;
	struct hier_node *node;
	size_t n;
	uint32_t top;	  /* first of the top level; HIST_NO_ROW when there is none */
	struct hist sums; /* a row for each node, members as the hist's */
	/* Columns of a level: indices into columns->col. */
	uint8_t level[KEY_COLUMNS][KEY_COLUMNS], level_n[KEY_COLUMNS];
	unsigned n_levels;
};

void hier_make(struct hier *t, const struct hist *h);
void hier_free(struct hier *t);
