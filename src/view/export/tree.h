/* SPDX-License-Identifier: MIT */
/* Stacks as a tree: a node is a frame below another node, and stands for a stack. */
#pragma once

#include <stdint.h>

#include "base/index.h"
#include "base/vec.h"
#include "view/export/export.h"

#define EXPORT_ROOT UINT32_MAX /* the parent of outermost frames */

struct export_node {
	uint32_t parent, frame;
};
struct export_tree {
	VEC(struct export_node) nodes; /* parents stand before their children */
	struct index index;
	struct map of_chain; /* node + 1 */
};

/* The node of a frame below parent, made when there is none. */
uint32_t export_tree_add(struct export_tree *t, uint32_t parent, uint32_t frame);
/* The node of an entry's stack; EXPORT_ROOT when it has none. frame: of a site. */
uint32_t export_tree_stack(struct export_tree *t, const struct export_job *x, uint32_t entry,
			   uint32_t (*frame)(void *ctx, uint32_t site), void *ctx);
void export_tree_reset(struct export_tree *t); /* empties, keeps the memory of nodes */
void export_tree_free(struct export_tree *t);
