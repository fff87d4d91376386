/* SPDX-License-Identifier: MIT */
/*
 * The mappings of an address space, as a treap whose nodes may be shared by many
 * spaces: a node is changed in place only by the space that made it (equal tokens)
 * and copied by any other. So a fork costs nothing, a child's first mapping costs a
 * path of nodes, and 60,000 forks of a process with 500 mappings stay small.
 */
#ifndef KYMO_EVENT_TASK_TREE_H
#define KYMO_EVENT_TASK_TREE_H

#include "base/mem.h"
#include "event/task.h"

struct task_node {
	struct task_map map;
	struct task_node *left, *right;
	uint32_t rank;	/* random; a node ranks above its children */
	uint32_t token; /* of the space that may change it */
};

/* Where nodes are made. */
struct task_nodes {
	struct arena *arena;
	uint64_t random;
};

/* Put map to its place, and cut away what it covers: the new root. */
struct task_node *task_tree_replace(struct task_nodes *t, struct task_node *root,
				    const struct task_map *map, uint32_t token);
/* Does something else stand in map's range? */
bool task_tree_conflict(const struct task_node *n, const struct task_map *map);
/* In the order of addresses. */
void task_tree_each(const struct task_node *n, void (*fn)(void *ctx, const struct task_map *map),
		    void *ctx);

/*
 * The mapping at addr, or NULL; inline, since every address of every stack asks. The answer
 * holds from *from to *until, which are narrowed to it.
 */
static inline const struct task_map *task_tree_find(const struct task_node *n, uint64_t addr,
						    uint64_t *from, uint64_t *until)
{
	while (n && (addr < n->map.start || addr >= n->map.end)) {
		if (addr < n->map.start && n->map.start < *until)
			*until = n->map.start;
		if (addr >= n->map.end && n->map.end > *from)
			*from = n->map.end;
		n = addr < n->map.start ? n->left : n->right;
	}
	if (!n)
		return NULL;
	if (n->map.start > *from)
		*from = n->map.start;
	if (n->map.end < *until)
		*until = n->map.end;
	return &n->map;
}

#endif
