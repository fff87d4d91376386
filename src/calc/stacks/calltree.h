/* SPDX-License-Identifier: MIT */
/*
 * Stacks merged into a tree of calls, of one profile or of two to compare.
 *
 * Frames are the same function when file name of the module, name and kind
 * agree, so that two builds in different folders can be compared; the source
 * line is kept only where all of a function's frames agree in it.
 *
 * The tree is built from the root by splitting groups of stacks, so a part that
 * is too small to be seen (min_total) costs nothing: it is never made. Nodes
 * stand in pre-order: the subtree of node i is [i, end).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "calc/stacks/stacks.h"

enum calltree_label {
	CALLTREE_LABEL_NONE,
	CALLTREE_LABEL_COMM, /* java */
	CALLTREE_LABEL_PID,  /* java-123 */
	CALLTREE_LABEL_TID,  /* java-123/125 */
};

enum calltree_sort {
	CALLTREE_BY_NAME, /* as flamegraph.pl: the order of the folded lines */
	CALLTREE_BY_SIZE,
	CALLTREE_BY_TIME, /* a flame chart: stacks when they were (chart.h); those without times as
			     they came, where only neighbours are merged */
};

#define CALLTREE_ALL_TYPES UINT32_MAX

struct calltree_opts {
	enum calltree_label label; /* what is put in front of stacks whose entry has a comm */
	enum calltree_sort sort;
	uint32_t type; /* only entries of this type, or CALLTREE_ALL_TYPES */
	bool reverse;
	bool collapse_recursion; /* a function called by itself is one frame */
	bool merge_unknown;	 /* code without a name is one frame a module: [libc.so.6] */
	bool want_nodes;	 /* fill entry_node */
	/*
	 * Nodes with less than this share of the whole (of both sides) are left out:
	 * silently for pictures, where nobody could see them, or gathered into one
	 * CALLTREE_PRUNED node a parent when keep_pruned is set (not BY_TIME).
	 */
	double min_share;
	bool keep_pruned;
	/* with keep_pruned: the innermost functions stay, as children of that node: self is exact
	 */
	bool keep_leaves;
	size_t max_nodes; /* with more, give up: too_many is set and the tree is of no use; 0: any
			   */
};

struct calltree_func {
	uint32_t name, module; /* in strings; module may be STRTAB_NONE, and has no folder */
	uint32_t path, file;   /* the module with its folder, the source file; STRTAB_NONE */
	uint32_t line;	       /* 0 when not known or not the same everywhere */
	enum frame_kind kind;
};

#define CALLTREE_ROOT UINT32_MAX	 /* func of node 0 */
#define CALLTREE_PRUNED (UINT32_MAX - 1) /* func of a node that stands for what was pruned */

struct calltree_node {
	uint32_t func;
	uint32_t parent; /* node 0 is its own */
	uint32_t end;
	uint32_t depth;
	int64_t self[2], total[2]; /* by side */
	/* Where it begins, counted from the root's beginning: own self first, then the children. */
	int64_t start[2];
};

struct calltree {
	struct strtab strings;
	VEC(struct calltree_func) funcs;
	VEC(struct calltree_node) nodes; /* at least the root */
	VEC(uint32_t) entry_node[2];	 /* by side and entry; UINT32_MAX: not of that type */
	uint32_t depth;			 /* of the deepest node */
	uint64_t pruned_stacks;		 /* distinct stacks that were cut short */
	int64_t pruned_weight[2];
	bool too_many; /* max_nodes */
	/*
	 * A flame chart in time: totals are ns, starts count from the first moment, and depth is
	 * the row, because threads that ran at once stand above each other.
	 */
	bool timed;
	double left_out; /* timed: share of the weight that nobody knows the time of */
};

/* after may be NULL. Refuses negative weights and sums beyond 63 bits. */
int calltree_make(const struct stacks *before, const struct stacks *after,
		  const struct calltree_opts *o, struct calltree *ret, struct err *e);
void calltree_free(struct calltree *t);

const char *calltree_name(const struct calltree *t, uint32_t func);
