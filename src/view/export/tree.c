/* SPDX-License-Identifier: MIT */
#include "view/export/tree.h"

#include "base/map.h"

uint32_t export_tree_add(struct export_tree *t, uint32_t parent, uint32_t frame)
{
	uint64_t hash = map_hash((uint64_t)parent << 32 | frame);
	size_t at = index_first(&t->index, hash);
	uint32_t k;

	index_each (&t->index, hash, at, k) {
		const struct export_node *n = &t->nodes.data[k - 1];

		if (n->parent == parent && n->frame == frame)
			return k - 1;
	}
	vec_push(&t->nodes, (struct export_node){ parent, frame });
	index_set(&t->index, at, hash, t->nodes.n);
	return (uint32_t)t->nodes.n - 1;
}

void export_tree_reset(struct export_tree *t)
{
	index_free(&t->index);
	t->nodes.n = 0;
}

void export_tree_free(struct export_tree *t)
{
	index_free(&t->index);
	vec_free(&t->nodes);
}
