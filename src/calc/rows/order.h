/* SPDX-License-Identifier: MIT */
/*
 * The order in which a red-black tree holds items after they were inserted one by one.
 *
 * For a comparison that is an order this is a stable sort. For one that is not
 * (A before B before C before A) the result is still a definite one, and the
 * one of every other program that uses such a tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below 0 when a stands before b. */
typedef int order_fn(void *ctx, uint32_t a, uint32_t b);
void order_insert(uint32_t *items, size_t n, order_fn *compare, void *ctx);

/* The same for who has many and compares them in place. Nodes count from 1; 0 is none. */
struct order_node {
	uint64_t key[3]; /* the caller's: what it compares by, in one line of the cache with ... */
	uint32_t child[2]; /* ... what stands before it, and behind it */
};
struct order_tree {
	struct order_node *node;
	uint32_t *parent; /* twice, and one more when the node is red */
	uint32_t root;
};
void order_tree_init(struct order_tree *t, size_t n);
void order_tree_free(struct order_tree *t);
/* A new node below a parent (0: it is the first), where that has no child. */
void order_put(struct order_tree *t, uint32_t node, uint32_t parent, bool behind);
/* All nodes in their order: the first, or 0; the one behind a node, or 0. */
uint32_t order_first(const struct order_tree *t);
uint32_t order_next(const struct order_tree *t, uint32_t node);
