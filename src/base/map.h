/* SPDX-License-Identifier: MIT */
/*
 * Hash tables: 64-bit key to 64-bit value, and strings to small dense ids.
 *
 * Open addressing with linear probing; nothing is ever deleted, which is what
 * counting and interning need. Zeroed structs are empty tables.
 */
#pragma once

#include "base/index.h"

static inline uint64_t map_hash(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}
uint64_t map_hash_bytes(const void *data, size_t n);

struct map_slot {
	uint64_t key, value;
	bool used;
};
struct map {
	struct map_slot *slots;
	size_t n, cap; /* cap is 0 or a power of two */
};
/* The value's place, made (as 0) when missing; holds until the next map_at. */
uint64_t *map_at(struct map *m, uint64_t key);
/* NULL when missing. */
uint64_t *map_find(const struct map *m, uint64_t key);
void map_free(struct map *m);

/* Interned strings: equal text, equal id; ids count from 0 in order of first sight. */
struct strtab {
	struct arena arena;
	const char **name; /* by id */
	struct index index;
	size_t n, cap;
};
uint32_t strtab_add(struct strtab *t, const char *s);
uint32_t strtab_addn(struct strtab *t, const char *s, size_t n);
#define STRTAB_NONE UINT32_MAX
uint32_t strtab_find(const struct strtab *t, const char *s);
static inline const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->n ? t->name[id] : "";
}
void strtab_free(struct strtab *t);
