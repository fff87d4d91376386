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

/* The slot that holds the string, or the free one where it belongs. */
static struct strtab_slot *strtab_slot(const struct strtab *t, const char *s, size_t n,
				       uint32_t hash)
{
	size_t i = hash & (t->slot_cap - 1);

	for (; t->slots[i].id; i = (i + 1) & (t->slot_cap - 1)) {
		const char *name = t->slots[i].hash == hash ? t->name[t->slots[i].id - 1] : NULL;

		if (name && strncmp(name, s, n) == 0 && !name[n])
			break;
	}
	return &t->slots[i];
}

static void strtab_double(struct strtab *t)
{
	AUTO_FREE struct strtab_slot *old = t->slots;
	size_t n = t->slot_cap;

	t->slot_cap = n ? n * 2 : 64;
	t->slots = mem_table(t->slot_cap * sizeof(*t->slots), true);
	for (size_t k = 0; k < n; k++) {
		size_t i = old[k].hash & (t->slot_cap - 1);

		if (!old[k].id)
			continue;
		while (t->slots[i].id)
			i = (i + 1) & (t->slot_cap - 1);
		t->slots[i] = old[k];
	}
}

uint32_t strtab_addn(struct strtab *t, const char *s, size_t n)
{
	struct strtab_slot *slot;
	uint32_t hash;

	n = strnlen(s, n);
	hash = (uint32_t)map_hash_bytes(s, n);
	if ((t->n + 1) * 2 > t->slot_cap)
		strtab_double(t);
	slot = strtab_slot(t, s, n, hash);
	if (slot->id)
		return slot->id - 1;
	if (t->n == t->cap) {
		t->cap = t->cap ? t->cap * 2 : 32;
		t->name = mem_grow(t->name, t->cap * sizeof(*t->name));
	}
	t->name[t->n] = arena_strndup(&t->arena, s, n);
	*slot = (struct strtab_slot){ hash, (uint32_t)++t->n };
	return slot->id - 1;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_addn(t, s, strlen(s));
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	const struct strtab_slot *slot;
	size_t n = strlen(s);

	if (!t->slot_cap)
		return STRTAB_NONE;
	slot = strtab_slot(t, s, n, (uint32_t)map_hash_bytes(s, n));
	return slot->id ? slot->id - 1 : STRTAB_NONE;
}

void strtab_free(struct strtab *t)
{
	arena_free(&t->arena);
	free(t->name);
	free(t->slots);
	*t = (struct strtab){ 0 };
}
