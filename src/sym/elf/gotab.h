/* SPDX-License-Identifier: MIT */
/*
 * Go's own table of functions (.gopclntab), which its runtime goes by: Go 1.18 and later, 64-bit
 * and in this machine's byte order. What makes no sense is not followed.
 */
#pragma once

#include "base/bytes.h"

#define GOTAB_118 0xfffffff0u
#define GOTAB_120 0xfffffff1u
#define GOTAB_HEADER 72u /* magic and sizes, then eight words */
#define GOTAB_TEXT 24	 /* where in it the address of the code is */

struct gotab {
	const uint8_t *data;
	size_t size;
	uint64_t n, text;		/* functions; the address that entries count from */
	uint64_t names, pctab, functab; /* where tables are */
	size_t flags;			/* where a function's flags are in its description */
};

static inline bool gotab_is(const uint8_t *p)
{
	uint32_t magic = bytes_at32(p);

	return (magic == GOTAB_118 || magic == GOTAB_120) && !p[4] && !p[5] && p[7] == 8;
}

static inline bool gotab_open(const uint8_t *p, size_t size, struct gotab *g)
{
	if (size < GOTAB_HEADER || !gotab_is(p))
		return false;
	*g = (struct gotab){ .data = p,
			     .size = size,
			     .n = bytes_at64(p + 8),
			     .text = bytes_at64(p + GOTAB_TEXT),
			     .names = bytes_at64(p + 32),
			     .pctab = bytes_at64(p + 56),
			     .functab = bytes_at64(p + 64),
			     .flags = bytes_at32(p) == GOTAB_120 ? 41 : 37 };
	return g->names < size && g->pctab < size && g->functab < size &&
	       g->n < (size - g->functab) / 8;
}

/* How far behind text a function begins; of number n, where the last one ends. */
static inline uint32_t gotab_entry(const struct gotab *g, uint64_t i)
{
	return bytes_at32(g->data + g->functab + i * 8);
}

/* Where need bytes of a function's description are; 0 when they are not in the table. */
static inline size_t gotab_description(const struct gotab *g, uint64_t i, size_t need)
{
	uint64_t at = g->functab + bytes_at32(g->data + g->functab + i * 8 + 4);

	return at > g->size || g->size - at < need ? 0 : at;
}

/* The name that a description tells, or NULL. */
static inline const char *gotab_name(const struct gotab *g, size_t description)
{
	uint64_t name = g->names + bytes_at32(g->data + description + 4);

	if (name >= g->size || !g->data[name] || !memchr(g->data + name, 0, g->size - name))
		return NULL;
	return (const char *)g->data + name;
}
