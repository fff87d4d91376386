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

uint32_t export_tree_stack(struct export_tree *t, const struct export_job *x, uint32_t entry,
			   uint32_t (*frame)(void *ctx, uint32_t site), void *ctx)
{
	uint32_t chain = x->profile->entries.data[entry].chain, at = EXPORT_ROOT, n;
	uint64_t *known = chain == PROFILE_NO_CHAIN ? NULL : map_at(&t->of_chain, chain);
	uint32_t buf[EXPORT_INLINES];
	const uint32_t *sites;

	if (known && *known)
		return (uint32_t)*known - 1;
	n = export_stack(x, entry, &sites, buf);
	while (n-- > 0)
		at = export_tree_add(t, at, frame(ctx, sites[n]));
	if (known && at != EXPORT_ROOT)
		*known = at + 1ull;
	return at;
}

void export_tree_reset(struct export_tree *t)
{
	map_free(&t->of_chain);
	index_free(&t->index);
	t->nodes.n = 0;
}

void export_tree_free(struct export_tree *t)
{
	export_tree_reset(t);
	vec_free(&t->nodes);
}
