/* SPDX-License-Identifier: MIT */
#include "event/task_impl.h"

static struct task_node *node_new(struct task_nodes *t, const struct task_map *map, uint32_t token)
{
	struct task_node *n = arena_alloc(t->arena, sizeof(*n));

	n->map = *map;
	n->token = token;
	n->rank = (uint32_t)map_hash(++t->random);
	return n;
}

/* A node this space may change. */
static struct task_node *node_own(struct task_nodes *t, struct task_node *n, uint32_t token)
{
	struct task_node *copy;

	if (n->token == token)
		return n;
	copy = arena_alloc(t->arena, sizeof(*copy));
	*copy = *n;
	copy->token = token;
	return copy;
}

/* Nodes that start below addr to *low, the others to *high. */
static void task_tree_split(struct task_nodes *t, struct task_node *n, uint64_t addr,
			    uint32_t token, struct task_node **low, struct task_node **high)
{
	if (!n) {
		*low = *high = NULL;
		return;
	}
	n = node_own(t, n, token);
	if (n->map.start < addr) {
		task_tree_split(t, n->right, addr, token, &n->right, high);
		*low = n;
	} else {
		task_tree_split(t, n->left, addr, token, low, &n->left);
		*high = n;
	}
}

/* Everything in low starts below everything in high. */
static struct task_node *task_tree_join(struct task_nodes *t, struct task_node *low,
					struct task_node *high, uint32_t token)
{
	if (!low || !high)
		return low ? low : high;
	if (low->rank > high->rank) {
		low = node_own(t, low, token);
		low->right = task_tree_join(t, low->right, high, token);
		return low;
	}
	high = node_own(t, high, token);
	high->left = task_tree_join(t, low, high->left, token);
	return high;
}

static const struct task_node *last_of(const struct task_node *n)
{
	while (n && n->right)
		n = n->right;
	return n;
}

/* End the last node of n at addr, where it reaches further. */
static struct task_node *cut_last(struct task_nodes *t, struct task_node *n, uint64_t addr,
				  uint32_t token)
{
	const struct task_node *last = last_of(n);

	if (!n || !last || last->map.end <= addr)
		return n;
	n = node_own(t, n, token);
	if (n->right)
		n->right = cut_last(t, n->right, addr, token);
	else
		n->map.end = addr;
	return n;
}

/* Put map to its place, and cut away what it covers. */
struct task_node *task_tree_replace(struct task_nodes *t, struct task_node *root,
				    const struct task_map *map, uint32_t token)
{
	uint64_t start = map->start, end = map->end;
	struct task_node *low, *mid, *high, *tail = NULL;
	const struct task_node *last;

	task_tree_split(t, root, start, token, &low, &mid);
	task_tree_split(t, mid, end, token, &mid, &high);
	last = mid ? last_of(mid) : last_of(low);
	if (last && last->map.end > end) {
		struct task_map rest = last->map;

		rest.pgoff += end - rest.start;
		rest.start = end;
		tail = node_new(t, &rest, token);
	}
	low = cut_last(t, low, start, token);
	low = task_tree_join(t, low, node_new(t, map, token), token);
	return task_tree_join(t, task_tree_join(t, low, tail, token), high, token);
}

static bool same_code(const struct task_map *a, const struct task_map *b)
{
	return a->dso == b->dso && a->start - a->pgoff == b->start - b->pgoff;
}

/* Does something else stand in map's range? */
bool task_tree_conflict(const struct task_node *n, const struct task_map *map)
{
	for (; n; n = map->end <= n->map.start ? n->left : n->right) {
		if (map->end <= n->map.start || n->map.end <= map->start)
			continue;
		return !same_code(&n->map, map) || task_tree_conflict(n->left, map) ||
		       task_tree_conflict(n->right, map);
	}
	return false;
}

void task_tree_each(const struct task_node *n, void (*fn)(void *ctx, const struct task_map *map),
		    void *ctx)
{
	for (; n; n = n->right) {
		task_tree_each(n->left, fn, ctx);
		fn(ctx, &n->map);
	}
}
