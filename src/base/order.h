/* SPDX-License-Identifier: MIT */
/*
 * Rows that are in order, taken as one: which has the smallest key; of equal ones the first row.
 *
 *	order_add(&o, key, row) for each row with something in it, then again and again
 *	order_row(&o), and order_next(&o, key) of what follows in that row, or order_end(&o)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct order_key {
	uint64_t key;
	uint32_t row;
};

/* A heap: none is behind those at 2i + 1 and 2i + 2. */
struct order {
	struct order_key *data;
	size_t n, cap;
};

static inline bool order_before(const struct order_key *a, const struct order_key *b)
{
	return a->key != b->key ? a->key < b->key : a->row < b->row;
}

static inline void order_sink(struct order *o)
{
	struct order_key k = o->data[0];
	size_t at = 0;

	for (size_t next = 1; next < o->n; at = next, next = 2 * next + 1) {
		if (next + 1 < o->n && order_before(&o->data[next + 1], &o->data[next]))
			next++;
		if (!order_before(&o->data[next], &k))
			break;
		o->data[at] = o->data[next];
	}
	o->data[at] = k;
}

static inline void order_add(struct order *o, uint64_t key, uint32_t row)
{
	struct order_key k = { key, row };
	size_t at = o->n;

	vec_push(o, k);
	for (; at && order_before(&k, &o->data[(at - 1) / 2]); at = (at - 1) / 2)
		o->data[at] = o->data[(at - 1) / 2];
	o->data[at] = k;
}

/* The row; UINT32_MAX: nothing is left. */
static inline uint32_t order_row(const struct order *o)
{
	return o->n ? o->data[0].row : UINT32_MAX;
}

static inline void order_next(struct order *o, uint64_t key)
{
	o->data[0].key = key;
	order_sink(o);
}

static inline void order_end(struct order *o)
{
	o->data[0] = o->data[--o->n];
	if (o->n)
		order_sink(o);
}
