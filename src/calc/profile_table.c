/* SPDX-License-Identifier: MIT */
#include "calc/profile_table.h"

#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xd6e8feb86659fd93u);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t words_hash(uint64_t h, const uint64_t *w, size_t n)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2)
		h = mix(w[i] ^ h, w[i + 1]);
	if (i < n)
		h = mix(w[i] ^ h, n);
	return h;
}

uint64_t table_chain_hash(const struct profile_chain *c)
{
	return words_hash(mix((uint64_t)c->space << 32 | c->kernel, c->n), c->ip, c->n);
}

uint64_t table_extra_hash(const struct profile_extra *x)
{
	return words_hash(x->size, x->data, (x->size + 7) / 8);
}

/* The part of an entry that identifies it is everything before its sums. */
#define KEY_SIZE offsetof(struct profile_entry, count)

static uint64_t entry_hash(const struct profile_entry *e)
{
	uint64_t w[KEY_SIZE / 8];

	_Static_assert(KEY_SIZE % 8 == 0, "the key has no padding");
	memcpy(w, e, KEY_SIZE);
	return words_hash(0, w, KEY_SIZE / 8);
}

static void index_grow(struct index *x, uint64_t (*hash_of)(const void *ctx, size_t i),
		       const void *ctx)
{
	uint32_t *old = x->slot;
	size_t old_cap = x->cap;

	x->cap = old_cap ? old_cap * 2 : 1024;
	x->slot = mem_alloc(x->cap * sizeof(*x->slot));
	for (size_t i = 0; i < old_cap; i++) {
		size_t at;

		if (!old[i])
			continue;
		at = hash_of(ctx, old[i] - 1) & (x->cap - 1);
		while (x->slot[at])
			at = (at + 1) & (x->cap - 1);
		x->slot[at] = old[i];
	}
	free(old);
}

static uint64_t chain_hash_at(const void *ctx, size_t i)
{
	return ((const struct tables *)ctx)->chains.data[i].hash;
}

static uint64_t entry_hash_at(const void *ctx, size_t i)
{
	return entry_hash(&((const struct tables *)ctx)->entries.data[i]);
}

static uint64_t extra_hash_at(const void *ctx, size_t i)
{
	return ((const struct tables *)ctx)->extras.data[i].hash;
}

uint32_t table_chain(struct tables *t, const struct profile_chain *c, bool copy)
{
	struct index *x = &t->chain_index;
	size_t at;

	if ((x->n + 1) * 2 > x->cap)
		index_grow(x, chain_hash_at, t);
	for (at = c->hash & (x->cap - 1); x->slot[at]; at = (at + 1) & (x->cap - 1)) {
		const struct profile_chain *o = &t->chains.data[x->slot[at] - 1];

		if (o->hash == c->hash && o->n == c->n && o->space == c->space &&
		    o->kernel == c->kernel && o->cut == c->cut && o->headless == c->headless &&
		    memcmp(o->ip, c->ip, c->n * sizeof(*c->ip)) == 0)
			return x->slot[at] - 1;
	}
	vec_push(&t->chains, *c);
	if (copy)
		t->chains.data[t->chains.n - 1].ip =
			arena_dup(&t->copies, c->ip, c->n * sizeof(*c->ip));
	x->slot[at] = (uint32_t)t->chains.n;
	x->n++;
	return (uint32_t)t->chains.n - 1;
}

/* Of equal ones the earliest sample's record is kept, so that the result does not depend on chance.
 */
uint32_t table_extra(struct tables *t, const struct profile_extra *x, bool copy_raw)
{
	struct index *ix = &t->extra_index;
	struct profile_extra *o;
	size_t at;

	if ((ix->n + 1) * 2 > ix->cap)
		index_grow(ix, extra_hash_at, t);
	for (at = x->hash & (ix->cap - 1); ix->slot[at]; at = (at + 1) & (ix->cap - 1)) {
		o = &t->extras.data[ix->slot[at] - 1];
		if (o->hash != x->hash || o->size != x->size ||
		    memcmp(o->data, x->data, x->size) != 0)
			continue;
		if (x->first < o->first) {
			o->first = x->first;
			o->raw_size = x->raw_size;
			o->raw = copy_raw ? arena_dup(&t->copies, x->raw, x->raw_size) : x->raw;
		}
		return ix->slot[at] - 1;
	}
	vec_push(&t->extras, *x);
	o = &t->extras.data[t->extras.n - 1];
	o->data = arena_dup(&t->copies, x->data, x->size);
	if (copy_raw)
		o->raw = arena_dup(&t->copies, x->raw, x->raw_size);
	ix->slot[at] = (uint32_t)t->extras.n;
	ix->n++;
	return (uint32_t)t->extras.n - 1;
}

void table_count(struct tables *t, const struct profile_entry *e)
{
	struct index *x = &t->entry_index;
	size_t at;

	if ((x->n + 1) * 2 > x->cap)
		index_grow(x, entry_hash_at, t);
	for (at = entry_hash(e) & (x->cap - 1); x->slot[at]; at = (at + 1) & (x->cap - 1)) {
		struct profile_entry *o = &t->entries.data[x->slot[at] - 1];

		if (memcmp(o, e, KEY_SIZE) != 0)
			continue;
		o->count += e->count;
		o->weight += e->weight;
		if (e->first < o->first) {
			o->first = e->first;
			o->first_tid = e->first_tid;
		}
		return;
	}
	vec_push(&t->entries, *e);
	x->slot[at] = (uint32_t)t->entries.n;
	x->n++;
}

void table_free(struct tables *t)
{
	vec_free(&t->entries);
	vec_free(&t->chains);
	vec_free(&t->extras);
	free(t->entry_index.slot);
	free(t->chain_index.slot);
	free(t->extra_index.slot);
	free(t->total);
	free(t->buf);
	arena_free(&t->copies);
}

void table_merge(struct tables *t, struct tables *other, size_t n_types, bool copy)
{
	AUTO_FREE uint32_t *chain = mem_alloc((other->chains.n + 1) * sizeof(*chain));
	AUTO_FREE uint32_t *extra = mem_alloc((other->extras.n + 1) * sizeof(*extra));

	for (size_t i = 0; i < other->chains.n; i++)
		chain[i] = table_chain(t, &other->chains.data[i], copy);
	for (size_t i = 0; i < other->extras.n; i++)
		extra[i] =
			table_extra(t, &other->extras.data[i], copy && other->extras.data[i].raw);
	for (size_t i = 0; i < other->entries.n; i++) {
		struct profile_entry *e = &other->entries.data[i];

		if (e->chain != PROFILE_NO_CHAIN)
			e->chain = chain[e->chain];
		if (e->extra != PROFILE_NO_EXTRA)
			e->extra = extra[e->extra];
		table_count(t, e);
	}
	for (size_t i = 0; i < n_types; i++) {
		t->total[i].count += other->total[i].count;
		t->total[i].weight += other->total[i].weight;
		t->total[i].all_count += other->total[i].all_count;
		t->total[i].all_weight += other->total[i].all_weight;
	}
	table_free(other);
}
