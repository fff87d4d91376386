/* SPDX-License-Identifier: MIT */
/*
 * Tables kept in the cache folder by file, mapped when needed.
 *
 * The layout is header, rules, index, rows in host byte order. A cache file is
 * believed only after every number in it was checked, because a wrong row would
 * be a wrong stack; anything odd is -EBADMSG and the table is built anew.
 */
#include "sym/unwind/ehframe.h"

#include <sys/mman.h>

#include "base/map.h"
#include "sym/find/cache.h"

#define MAGIC 0x3466686567796d6bu /* changes with the layout or the meaning of rules */

struct header {
	uint64_t magic;
	uint64_t base;
	uint32_t machine, chunk_shift;
	uint32_t n_chunks, n_rows, n_rules;
	uint32_t n_fdes, n_bad, n_full;
	uint64_t check; /* of everything else */
};

static const char *file_name_of(uint16_t machine, char buf[32])
{
	snprintf(buf, 32, "unwind-%u", machine);
	return buf;
}

static uint64_t checksum(const struct header *h, const void *body, size_t n)
{
	struct header copy = *h;

	copy.check = map_hash_bytes(body, n);
	return map_hash_bytes(&copy, sizeof(copy));
}

/* Only what ehframe_build() makes: registers are used as numbers of an array without a check. */
static bool rule_valid(const struct ehframe_rule *r)
{
	unsigned char ra = r->ra & EHFRAME_RA_MASK;

	return r->cfa <= EHFRAME_CFA_DEREF_FP && r->fp <= EHFRAME_FP_UNDEF && ra <= EHFRAME_RA_BX &&
	       (r->cfa != EHFRAME_CFA_REG || (r->extra >= 0 && r->extra <= EHFRAME_ARM64_SP)) &&
	       (ra != EHFRAME_RA_REG || (r->ra_off >= 0 && r->ra_off <= EHFRAME_ARM64_SP));
}

/* Every index and rule number is one that exists, so that lookups need not check. */
static bool table_valid(const struct ehframe_table *t)
{
	int64_t signs = 0, last = (int64_t)t->n_rules - 1;

	if (t->n_rules < EHFRAME_RULES_FIXED || t->n_rules > EHFRAME_RULES_MAX || !t->n_rows ||
	    t->base % EHFRAME_CHUNK || !t->n_chunks || t->index[0] != 0 ||
	    t->index[t->n_chunks] != t->n_rows)
		return false;
	for (uint32_t i = 0; i < EHFRAME_RULES_FIXED; i++)
		if (t->rules[i].cfa != i)
			return false;
	for (uint32_t i = 0; i < t->n_rules; i++)
		if (!rule_valid(&t->rules[i]))
			return false;
	/* What is below zero once stays so: a way out in between would cost more than it saves. */
	for (uint32_t i = 0; i < t->n_chunks; i++)
		signs |= (int64_t)t->index[i + 1] - t->index[i];
	for (uint32_t i = 0; i < t->n_rows; i++)
		signs |= last - EHFRAME_ROW_RULE(t->rows[i]);
	if (signs < 0)
		return false;
	/* The first row holds for the first offset, so a lookup always finds one. */
	return t->index[1] >= 1 && t->rows[0] >> 16 == (t->base & 0xffff);
}

int ehframe_cache_parse(const void *data, size_t size, uint16_t machine, struct ehframe_table *t)
{
	const struct header *h = data;
	const char *p = (const char *)(h + 1);
	uint64_t want;

	if (size < sizeof(*h) || h->magic != MAGIC || h->machine != machine ||
	    h->chunk_shift != EHFRAME_CHUNK_SHIFT)
		return -EBADMSG;
	want = sizeof(*h) + (uint64_t)h->n_rules * sizeof(*t->rules) +
	       ((uint64_t)h->n_chunks + 1 + h->n_rows) * 4;
	if (want != size || h->check != checksum(h, p, size - sizeof(*h)))
		return -EBADMSG;
	*t = (struct ehframe_table){
		.machine = machine,
		.base = h->base,
		.n_chunks = h->n_chunks,
		.n_rows = h->n_rows,
		.n_rules = h->n_rules,
		.n_fdes = h->n_fdes,
		.n_bad = h->n_bad,
		.n_full = h->n_full,
		.mapped = true,
		.owned = (void *)data,
		.owned_size = size,
	};
	t->rules = (const struct ehframe_rule *)p;
	t->index = (const uint32_t *)(p + (size_t)h->n_rules * sizeof(*t->rules));
	t->rows = t->index + h->n_chunks + 1;
	return table_valid(t) ? 0 : -EBADMSG;
}

void ehframe_cache_seal(void *data, size_t size)
{
	struct header *h = data;

	if (size < sizeof(*h))
		return;
	h->magic = MAGIC;
	h->chunk_shift = EHFRAME_CHUNK_SHIFT;
	h->check = checksum(h, h + 1, size - sizeof(*h));
}

int ehframe_cache_load(int cache, const struct cache_key *key, uint16_t machine,
		       struct ehframe_table **ret, struct err *e)
{
	char name[32];
	struct ehframe_table t;
	size_t size;
	void *map;
	int r = cache_map(cache, key, file_name_of(machine, name), &map, &size);

	if (r < 0)
		return err_set(e, -r, "no table is kept: %s", strerror(-r));
	if (ehframe_cache_parse(map, size, machine, &t) < 0) {
		munmap(map, size);
		return err_set(e, EBADMSG, "the kept table is damaged or of another version");
	}
	*ret = mem_dup(&t, sizeof(t));
	return 0;
}

int ehframe_cache_save(int cache, const struct cache_key *key, const struct ehframe_table *t,
		       struct err *e)
{
	struct header h = {
		.base = t->base,
		.machine = t->machine,
		.n_chunks = t->n_chunks,
		.n_rows = t->n_rows,
		.n_rules = t->n_rules,
		.n_fdes = t->n_fdes,
		.n_bad = t->n_bad,
		.n_full = t->n_full,
	};
	size_t rules = t->n_rules * sizeof(*t->rules), index = ((size_t)t->n_chunks + 1) * 4;
	size_t rows = (size_t)t->n_rows * 4, body = rules + index + rows;
	AUTO_FREE char *buf = mem_grow(NULL, sizeof(h) + body);
	char name[32], *p = buf + sizeof(h);

	memcpy(p, t->rules, rules);
	memcpy(p + rules, t->index, index);
	memcpy(p + rules + index, t->rows, rows);
	memcpy(buf, &h, sizeof(h));
	ehframe_cache_seal(buf, sizeof(h) + body);
	return cache_write(cache, key, file_name_of(t->machine, name), buf, sizeof(h) + body, e);
}

int ehframe_cached(const struct ehframe *f, int cache, const struct cache_key *key,
		   struct ehframe_table **ret, bool *kept, struct err *e)
{
	struct err none;
	int r;

	*kept = ehframe_cache_load(cache, key, ehframe_machine(f), ret, &none) == 0;
	if (*kept)
		return 0;
	r = ehframe_build(f, ret, e);
	if (r == 0)
		ehframe_cache_save(cache, key, *ret, &none); /* a full disk is no reason */
	return r;
}
