/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <string.h>

static inline uint64_t hash_word(uint64_t h, const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	h = (h ^ w) * 0xd6e8feb86659fd93u;
	return h ^ h >> 29;
}

/* Long ones in four lanes, which do not wait for each other. */
#define LANES 4
#define LONG 1024

uint64_t map_hash_bytes(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

	if (n >= LONG) {
		uint64_t lane[LANES] = { h, h + 1, h + 2, h + 3 };

		for (; n >= 8 * LANES; n -= 8 * LANES, p += 8 * LANES)
			for (size_t i = 0; i < LANES; i++)
				lane[i] = hash_word(lane[i], p + 8 * i);
		h = map_hash_bytes(lane, sizeof(lane));
	}
	for (; n >= 8; n -= 8, p += 8)
		h = hash_word(h, p);
	if (n) {
		w = 0;
		memcpy(&w, p, n);
		h = (h ^ w) * 0xd6e8feb86659fd93u;
	}
	return map_hash(h);
}

static struct map_slot *map_slot_of(const struct map *m, uint64_t key)
{
	size_t i = map_hash(key) & (m->cap - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void map_double(struct map *m)
{
	struct map old = *m;

	m->cap = old.cap ? old.cap * 2 : 16;
	m->slots = mem_table(m->cap * sizeof(*m->slots), true);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].used)
			*map_slot_of(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint64_t *map_at(struct map *m, uint64_t key)
{
	struct map_slot *s;

	if ((m->n + 1) * 4 > m->cap * 3)
		map_double(m);
	s = map_slot_of(m, key);
	if (!s->used) {
		*s = (struct map_slot){ .key = key, .used = true };
		m->n++;
	}
	return &s->value;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (!m->cap)
		return NULL;
	s = map_slot_of(m, key);
	return s->used ? &s->value : NULL;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

static bool strtab_is(const struct strtab *t, uint32_t id, const char *s, size_t n)
{
	return strncmp(t->name[id], s, n) == 0 && !t->name[id][n];
}

uint32_t strtab_addn(struct strtab *t, const char *s, size_t n)
{
	uint64_t hash;
	uint32_t k;
	size_t at;

	n = strnlen(s, n);
	hash = map_hash_bytes(s, n);
	at = index_first(&t->index, hash);
	index_each (&t->index, hash, at, k)
		if (strtab_is(t, k - 1, s, n))
			return k - 1;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 32;
		t->name = mem_grow(t->name, t->cap * sizeof(*t->name));
	}
	t->name[t->n] = arena_strndup(&t->arena, s, n);
	index_set(&t->index, at, hash, ++t->n);
	return (uint32_t)t->n - 1;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_addn(t, s, strlen(s));
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	size_t n = strlen(s);
	uint64_t hash = map_hash_bytes(s, n);
	size_t at = (uint32_t)hash & (t->index.cap - 1);
	uint32_t k;

	if (!t->n)
		return STRTAB_NONE;
	index_each (&t->index, hash, at, k)
		if (strtab_is(t, k - 1, s, n))
			return k - 1;
	return STRTAB_NONE;
}

void strtab_free(struct strtab *t)
{
	arena_free(&t->arena);
	free(t->name);
	index_free(&t->index);
	*t = (struct strtab){ 0 };
}
