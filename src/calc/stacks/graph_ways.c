/* SPDX-License-Identifier: MIT */
#include "calc/stacks/graph_impl.h"

#include <stdlib.h>
#include <string.h>

#define ROOT 0x80000000u /* a parent that is no node but a class of entries */

void ways_kinds_make(struct ways_kinds *k, const struct hist *h, const uint32_t *place_of)
{
	const struct names *n = h->cells->names;
	size_t room = (n->sites.n + 1) * sizeof(uint32_t);
	struct map index = { 0 };

	*k = (struct ways_kinds){ .of = mem_alloc(room),
				  .place = mem_alloc(room),
				  .class = mem_alloc(room) };
	for (size_t i = 0; i < n->sites.n; i++) {
		uint32_t class = h->cells->site_class[i];
		uint64_t *at = map_at(&index, (uint64_t) class << 32 | place_of[i]);

		if (!*at) {
			k->place[k->n] = place_of[i];
			k->class[k->n] = class;
			*at = ++k->n;
		}
		k->of[i] = (uint32_t)*at - 1;
	}
	map_free(&index);
}

void ways_kinds_free(struct ways_kinds *k)
{
	free(k->of);
	free(k->place);
	free(k->class);
}

static uint64_t way_hash(uint32_t parent, uint32_t kind)
{
	return map_hash((uint64_t)parent << 32 | kind);
}

static struct way_slot *graph_ways_slot_of(const struct ways *t, uint32_t parent, uint32_t kind)
{
	size_t at = way_hash(parent, kind) & (t->cap - 1);

	while (t->slot[at].node && (t->slot[at].parent != parent || t->slot[at].kind != kind))
		at = (at + 1) & (t->cap - 1);
	return &t->slot[at];
}

static void graph_ways_grow(struct ways *t)
{
	struct way_slot *old = t->slot;
	size_t n = t->cap;

	t->cap = n ? n * 2 : 4096;
	t->slot = mem_table(t->cap * sizeof(*t->slot), true);
	for (size_t i = 0; i < n; i++)
		if (old[i].node)
			*graph_ways_slot_of(t, old[i].parent, old[i].kind) = old[i];
	free(old);
}

/* Only the first node of a row on each way counts for it. */
static uint32_t row_if_first(const struct ways *t, uint32_t depth, uint32_t row)
{
	for (uint32_t i = 0; i < depth; i++)
		if (t->row[i] == row)
			return WAYS_NONE;
	return row;
}

static uint32_t node_at(struct ways *t, uint32_t depth, uint32_t kind)
{
	uint32_t parent = depth ? t->node[depth - 1] : ROOT | t->class;
	struct way_slot *slot;

	if ((t->buds.n + 1) * 2 > t->cap)
		graph_ways_grow(t);
	slot = graph_ways_slot_of(t, parent, kind);
	if (slot->node)
		return slot->node - 1;
	vec_push(&t->buds, (struct way_bud){ .parent = parent,
					     .kind = kind,
					     .row = row_if_first(t, depth, t->row[depth]) });
	*slot = (struct way_slot){ parent, kind, (uint32_t)t->buds.n };
	return (uint32_t)t->buds.n - 1;
}

static void graph_ways_make_room(struct ways *t, uint32_t n)
{
	if (n <= t->room)
		return;
	t->room = n * 2;
	t->kind = mem_grow(t->kind, t->room * sizeof(*t->kind));
	t->node = mem_grow(t->node, t->room * sizeof(*t->node));
	t->row = mem_grow(t->row, t->room * sizeof(*t->row));
}

/* Most chains go the same way as the one before for a while: only the rest is looked up. */
static void go(struct ways *t, const struct ways_kinds *kinds, const struct hist *h,
	       const struct name_chain *c, uint32_t class)
{
	const uint32_t *site = &h->cells->names->chain_sites[c->first];
	uint32_t k = 0;

	if (class != t->class)
		t->n = 0;
	t->class = class;
	graph_ways_make_room(t, c->n);
	while (k < c->n && k < t->n &&
	       kinds->of[site[h->opts.caller ? c->n - 1 - k : k]] == t->kind[k])
		k++;
	for (; k < c->n; k++) {
		uint32_t kind = kinds->of[site[h->opts.caller ? c->n - 1 - k : k]];

		t->kind[k] = kind;
		t->row[k] = hist_find(h, (struct cell_pair){ class, kinds->class[kind] });
		t->node[k] = node_at(t, k, kind);
	}
	t->n = c->n;
}

bool ways_add(struct ways *t, const struct ways_kinds *k, const struct hist *h, size_t i)
{
	const struct names *n = h->cells->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	const struct name_chain *c = &n->chains[e->chain];
	uint32_t own = hist_find(h, hist_pair_of(h, i)), depth = 0;
	struct way_bud *end;

	if (t->buds.n + c->n > t->max)
		return false;
	if (!c->n)
		return true;
	go(t, k, h, c, h->cells->entry_class[i]);
	end = &t->buds.data[t->node[c->n - 1]];
	end->weight += e->weight;
	end->count += e->count;
	while (depth < c->n && t->row[depth] != own)
		depth++;
	if (depth == c->n - 1) {
		end->own_weight += e->weight;
		end->own_count += e->count;
	} else if (depth < c->n) {
		uint64_t at = c->first + (h->opts.caller ? c->n - 1 - depth : depth);

		vec_push(&t->again, (struct way_again){ (uint32_t)i, own, at });
	}
	return true;
}

static void free_inner(struct ways *t)
{
	vec_free(&t->buds);
	free(t->slot);
	free(t->kind);
	free(t->node);
	free(t->row);
	t->slot = NULL;
	t->kind = t->node = t->row = NULL;
}

/* Where each node's children begin when they stand side by side, and how many roots there are. */
static uint32_t *places_of_children(const struct ways *t)
{
	uint32_t *child = mem_alloc((t->buds.n + 1) * sizeof(*child)), at = 0;

	vec_each (&t->buds, b)
		at += !!(b->parent & ROOT);
	for (size_t i = 0; i < t->buds.n; i++) {
		child[i] = at;
		at += t->buds.data[i].n_children;
	}
	return child;
}

void ways_finish(struct ways *t)
{
	AUTO_FREE uint32_t *child = NULL;
	uint32_t root = 0;

	/* children have come after their parents */
	for (size_t i = t->buds.n; i-- > 0;) {
		const struct way_bud *b = &t->buds.data[i];
		struct way_bud *parent = &t->buds.data[b->parent & ~ROOT];

		if (b->parent & ROOT)
			continue;
		parent->weight += b->weight;
		parent->count += b->count;
		parent->n_children++;
	}
	child = places_of_children(t);
	t->way = mem_table((t->buds.n + 1) * sizeof(*t->way), false);
	for (size_t i = 0; i < t->buds.n; i++) {
		const struct way_bud *b = &t->buds.data[i];
		uint32_t node = b->parent & ROOT ? root++ : child[b->parent]++;

		/* its own children have taken none of their places yet */
		t->way[node] =
			(struct way){ b->weight, b->count, child[i], b->n_children, b->kind };
		if (b->row != WAYS_NONE)
			vec_push(&t->rows,
				 (struct way_row){ b->own_weight, b->own_count, node, b->row });
	}
	free_inner(t);
}

void ways_free(struct ways *t)
{
	free_inner(t);
	free(t->way);
	vec_free(&t->rows);
	vec_free(&t->again);
}
