/* SPDX-License-Identifier: MIT */
#include "calc/order.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Nodes count from 1, in the order of insertion; 0 is none. */
struct tree {
	uint32_t *left, *right, *parent;
	bool *red;
	uint32_t root;
};

static void rotate(struct tree *t, uint32_t x, bool leftwards)
{
	uint32_t *down = leftwards ? t->right : t->left, *up = leftwards ? t->left : t->right;
	uint32_t y = down[x], p = t->parent[x];

	down[x] = up[y];
	if (up[y])
		t->parent[up[y]] = x;
	t->parent[y] = p;
	if (!p)
		t->root = y;
	else if (t->left[p] == x)
		t->left[p] = y;
	else
		t->right[p] = y;
	up[y] = x;
	t->parent[x] = y;
}

static void rebalance(struct tree *t, uint32_t x)
{
	while (t->parent[x] && t->red[t->parent[x]]) {
		uint32_t p = t->parent[x], g = t->parent[p];
		bool left = p == t->left[g];
		uint32_t uncle = left ? t->right[g] : t->left[g];

		if (uncle && t->red[uncle]) {
			t->red[p] = t->red[uncle] = false;
			t->red[g] = true;
			x = g;
			continue;
		}
		if (x == (left ? t->right[p] : t->left[p])) {
			rotate(t, p, left);
			x = p;
			p = t->parent[x];
		}
		t->red[p] = false;
		t->red[g] = true;
		rotate(t, g, !left);
	}
	t->red[t->root] = false;
}

static void insert(struct tree *t, const uint32_t *items, uint32_t node, order_fn *compare,
		   void *ctx)
{
	uint32_t at = t->root, p = 0;
	bool left = false;

	while (at) {
		p = at;
		left = compare(ctx, items[node - 1], items[at - 1]) < 0;
		at = left ? t->left[at] : t->right[at];
	}
	t->parent[node] = p;
	t->red[node] = true;
	if (!p)
		t->root = node;
	else if (left)
		t->left[p] = node;
	else
		t->right[p] = node;
	rebalance(t, node);
}

static uint32_t leftmost(const struct tree *t, uint32_t at)
{
	while (at && t->left[at])
		at = t->left[at];
	return at;
}

static void flatten(const struct tree *t, const uint32_t *items, uint32_t *out)
{
	uint32_t at = leftmost(t, t->root);

	while (at) {
		*out++ = items[at - 1];
		if (t->right[at]) {
			at = leftmost(t, t->right[at]);
			continue;
		}
		while (t->parent[at] && at == t->right[t->parent[at]])
			at = t->parent[at];
		at = t->parent[at];
	}
}

void order_insert(uint32_t *items, size_t n, order_fn *compare, void *ctx)
{
	AUTO_FREE uint32_t *out = mem_alloc((n + 1) * sizeof(*out));
	struct tree t = { 0 };

	t.left = mem_alloc((n + 1) * sizeof(*t.left));
	t.right = mem_alloc((n + 1) * sizeof(*t.right));
	t.parent = mem_alloc((n + 1) * sizeof(*t.parent));
	t.red = mem_alloc((n + 1) * sizeof(*t.red));
	for (uint32_t i = 1; i <= n; i++)
		insert(&t, items, i, compare, ctx);
	flatten(&t, items, out);
	memcpy(items, out, n * sizeof(*items));
	free(t.left);
	free(t.right);
	free(t.parent);
	free(t.red);
}
