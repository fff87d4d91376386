/* SPDX-License-Identifier: MIT */
#include "view/export/tree.h"

#include "base/map.h"

static size_t export_tree_slot_of(const struct export_tree *t, uint32_t parent, uint32_t frame)
{
	size_t at = map_hash((uint64_t)parent << 32 | frame) & (t->n_slots - 1);

	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		const struct export_node *n = &t->nodes.data[t->slots[at] - 1];

		if (n->parent == parent && n->frame == frame)
			break;
	}
	return at;
}

static void export_tree_grow(struct export_tree *t)
{
	free(t->slots);
	t->n_slots = t->n_slots ? t->n_slots * 2 : 1024;
	t->slots = mem_alloc(t->n_slots * sizeof(*t->slots));
	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct export_node *n = &t->nodes.data[i];

		t->slots[export_tree_slot_of(t, n->parent, n->frame)] = (uint32_t)i + 1;
	}
}

uint32_t export_tree_add(struct export_tree *t, uint32_t parent, uint32_t frame)
{
	size_t at;

	if ((t->nodes.n + 1) * 3 > t->n_slots * 2)
		export_tree_grow(t);
	at = export_tree_slot_of(t, parent, frame);
	if (!t->slots[at]) {
		vec_push(&t->nodes, (struct export_node){ parent, frame });
		t->slots[at] = (uint32_t)t->nodes.n;
	}
	return t->slots[at] - 1;
}

void export_tree_reset(struct export_tree *t)
{
	free(t->slots);
	t->slots = NULL;
	t->n_slots = 0;
	t->nodes.n = 0;
}

void export_tree_free(struct export_tree *t)
{
	free(t->slots);
	vec_free(&t->nodes);
}
