/* SPDX-License-Identifier: MIT */
#include "calc/trie.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

static size_t place(const struct trie *t, uint32_t parent, uint32_t func)
{
	size_t at = map_hash((uint64_t)parent << 32 | func) & (t->cap - 1);

	for (; t->slot[at]; at = (at + 1) & (t->cap - 1)) {
		const struct trie_node *n = &t->nodes.data[t->slot[at] - 1];

		if (n->parent == parent && n->func == func)
			break;
	}
	return at;
}

static void grow(struct trie *t)
{
	free(t->slot);
	t->cap = t->cap ? t->cap * 2 : 4096;
	t->slot = mem_alloc(t->cap * sizeof(*t->slot));
	for (uint32_t i = 0; i < t->nodes.n; i++)
		t->slot[place(t, t->nodes.data[i].parent, t->nodes.data[i].func)] = i + 1;
}

uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t func)
{
	size_t at;

	if ((t->nodes.n + 1) * 2 > t->cap)
		grow(t);
	at = place(t, parent, func);
	if (!t->slot[at]) {
		vec_push(&t->nodes, (struct trie_node){ .parent = parent, .func = func });
		t->slot[at] = (uint32_t)t->nodes.n;
	}
	return t->slot[at] - 1;
}

void trie_add(struct trie *t, uint32_t node, uint64_t weight)
{
	if (node == TRIE_ROOT) {
		t->root_count++;
		t->root_weight += weight;
		return;
	}
	t->nodes.data[node].count++;
	t->nodes.data[node].weight += weight;
}

void trie_merge(struct trie *t, struct trie *other)
{
	AUTO_FREE uint32_t *to = mem_alloc((other->nodes.n + 1) * sizeof(*to));

	for (uint32_t i = 0; i < other->nodes.n; i++) {
		const struct trie_node *n = &other->nodes.data[i];

		to[i] = trie_child(t, n->parent == TRIE_ROOT ? TRIE_ROOT : to[n->parent], n->func);
		t->nodes.data[to[i]].count += n->count;
		t->nodes.data[to[i]].weight += n->weight;
	}
	t->root_count += other->root_count;
	t->root_weight += other->root_weight;
	trie_free(other);
}

uint64_t *trie_totals(const struct trie *t)
{
	uint64_t *total = mem_alloc((t->nodes.n + 1) * sizeof(*total));

	for (size_t i = t->nodes.n; i-- > 0;) {
		const struct trie_node *n = &t->nodes.data[i];

		total[i] += n->weight;
		if (n->parent != TRIE_ROOT)
			total[n->parent] += total[i];
	}
	return total;
}

void trie_cut(struct trie *t, double least)
{
	AUTO_FREE uint64_t *total = trie_totals(t);

	for (size_t i = t->nodes.n; i-- > 0;) {
		struct trie_node *n = &t->nodes.data[i];
		struct trie_node *up = n->parent == TRIE_ROOT ? NULL : &t->nodes.data[n->parent];

		if ((double)total[i] >= least)
			continue;
		*(up ? &up->count : &t->root_count) += n->count;
		*(up ? &up->weight : &t->root_weight) += n->weight;
		n->count = n->weight = 0;
	}
}

#define DEEP 64 /* no depth beyond it is worth looking at */

uint32_t trie_depth(const struct trie *t)
{
	AUTO_FREE uint32_t *depth = mem_alloc((t->nodes.n + 1) * sizeof(*depth));
	AUTO_FREE uint64_t *through = mem_alloc((t->nodes.n + 1) * sizeof(*through));
	uint64_t paths = t->root_count, levels = 0, once[DEEP] = { 0 };

	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct trie_node *n = &t->nodes.data[i];

		depth[i] = n->parent == TRIE_ROOT ? 1 : depth[n->parent] + 1;
		paths += n->count;
		levels += n->count * depth[i];
	}
	for (size_t i = t->nodes.n; i-- > 0;) {
		const struct trie_node *n = &t->nodes.data[i];

		through[i] += n->count;
		if (n->parent != TRIE_ROOT)
			through[n->parent] += through[i];
		if (through[i] == 1 && depth[i] < DEEP)
			once[depth[i]]++;
	}
	for (uint32_t d = 2; d < DEEP; d++)
		if (once[d] * 2 > paths)
			return levels > paths * (d + 5) ? d + 1 : UINT32_MAX;
	return UINT32_MAX;
}

void trie_free(struct trie *t)
{
	vec_free(&t->nodes);
	free(t->slot);
	*t = (struct trie){ 0 };
}
