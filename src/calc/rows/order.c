/* SPDX-License-Identifier: MIT */
#include "calc/rows/order.h"

#include "base/mem.h"

static inline uint32_t parent_of(const struct order_tree *t, uint32_t node)
{
	return t->parent[node] / 2;
}

static inline void set_parent(const struct order_tree *t, uint32_t node, uint32_t parent)
{
	t->parent[node] = parent * 2 + (t->parent[node] & 1);
}

static inline bool is_red(const struct order_tree *t, uint32_t node)
{
	return t->parent[node] & 1;
}

static inline void set_red(const struct order_tree *t, uint32_t node, bool red)
{
	t->parent[node] = (t->parent[node] & ~1u) | red;
}

/* Is it what stands behind its parent? */
static inline bool is_behind(const struct order_tree *t, uint32_t node, uint32_t parent)
{
	return t->node[parent].child[1] == node;
}

/* The child on the other side takes the place of x, which goes down to this side. */
static void rotate(struct order_tree *t, uint32_t x, bool side)
{
	struct order_node *lx = &t->node[x], *ly;
	uint32_t y = lx->child[!side], p = parent_of(t, x);

	ly = &t->node[y];
	lx->child[!side] = ly->child[side];
	if (ly->child[side])
		set_parent(t, ly->child[side], x);
	set_parent(t, y, p);
	if (p)
		t->node[p].child[is_behind(t, x, p)] = y;
	else
		t->root = y;
	ly->child[side] = x;
	set_parent(t, x, y);
}

static void rebalance(struct order_tree *t, uint32_t x)
{
	uint32_t p;

	while ((p = parent_of(t, x)) && is_red(t, p)) {
		uint32_t g = parent_of(t, p);
		bool side = is_behind(t, p, g);
		uint32_t uncle = t->node[g].child[!side];

		if (uncle && is_red(t, uncle)) {
			set_red(t, p, false);
			set_red(t, uncle, false);
			set_red(t, g, true);
			x = g;
			continue;
		}
		if (x == t->node[p].child[!side]) {
			rotate(t, p, side);
			x = p;
			p = parent_of(t, x);
		}
		set_red(t, p, false);
		set_red(t, g, true);
		rotate(t, g, !side);
	}
	set_red(t, t->root, false);
}

void order_put(struct order_tree *t, uint32_t node, uint32_t parent, bool behind)
{
	t->node[node].child[0] = t->node[node].child[1] = 0;
	t->parent[node] = parent * 2 + 1;
	if (parent)
		t->node[parent].child[behind] = node;
	else
		t->root = node;
	rebalance(t, node);
}

static uint32_t leftmost(const struct order_tree *t, uint32_t at)
{
	while (at && t->node[at].child[0])
		at = t->node[at].child[0];
	return at;
}

uint32_t order_first(const struct order_tree *t)
{
	return leftmost(t, t->root);
}

uint32_t order_next(const struct order_tree *t, uint32_t node)
{
	uint32_t p, behind = t->node[node].child[1];

	if (behind)
		return leftmost(t, behind);
	while ((p = parent_of(t, node)) && is_behind(t, node, p))
		node = p;
	return p;
}

void order_tree_init(struct order_tree *t, size_t n)
{
	*t = (struct order_tree){ .node = mem_table((n + 1) * sizeof(*t->node), false),
				  .parent = mem_table((n + 1) * sizeof(*t->parent), false) };
}

void order_tree_free(struct order_tree *t)
{
	free(t->node);
	free(t->parent);
}

void order_insert(uint32_t *items, size_t n, order_fn *compare, void *ctx)
{
	AUTO_FREE uint32_t *copy = mem_dup(items, n * sizeof(*items));
	struct order_tree t;

	order_tree_init(&t, n);
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t at = t.root, parent = 0;
		bool behind = false;

		while (at) {
			parent = at;
			behind = compare(ctx, copy[i - 1], copy[at - 1]) >= 0;
			at = t.node[at].child[behind];
		}
		order_put(&t, i, parent, behind);
	}
	for (uint32_t at = order_first(&t); at; at = order_next(&t, at))
		*items++ = copy[at - 1];
	order_tree_free(&t);
}
