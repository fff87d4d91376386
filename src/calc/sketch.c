/* SPDX-License-Identifier: MIT */
#include "calc/sketch.h"

#include <stdlib.h>

#include "base/mem.h"

#define COUNTERS ((size_t)1 << SKETCH_BITS)

float *sketch_new(void)
{
	return mem_table(COUNTERS * sizeof(float), true);
}

void sketch_take(float *s, const struct trie *t)
{
	AUTO_FREE uint64_t *hash = mem_alloc((t->nodes.n + 1) * sizeof(*hash));
	AUTO_FREE uint64_t *total = trie_totals(t);

	for (size_t i = 0; i < t->nodes.n; i++) {
		const struct trie_node *n = &t->nodes.data[i];
		uint64_t before = n->parent == TRIE_ROOT ? SKETCH_START : hash[n->parent];

		hash[i] = sketch_extend(before, n->func);
		s[sketch_slot(hash[i])] += (float)total[i];
	}
}

void sketch_join(float *s, float *other)
{
	for (size_t i = 0; i < COUNTERS; i++)
		s[i] += other[i];
	free(other);
}
