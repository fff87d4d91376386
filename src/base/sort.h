/* SPDX-License-Identifier: MIT */
/*
 * Sorting many things by a 64-bit key, stably and in linear time.
 *
 * A radix sort over the bytes in which the keys differ: ten times faster than
 * qsort on the hundreds of thousands of addresses of a symbol table, and free
 * when they come in order.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* -1, 0 or 1, as qsort() wants it; the next criterion follows behind ?: */
#define SORT_BY(a, b) (((a) > (b)) - ((a) < (b)))

struct sort_key {
	uint64_t key;
	uint32_t index; /* the caller's: usually where the thing stands */
};

/* Equal keys keep their order. */
void sort_keys(struct sort_key *keys, size_t n);

/* Ascending, each once: how many are left. */
size_t sort_unique(int *v, size_t n);

/* How many of n sorted things are before what is looked for: i is the number that test asks of. */
#define SORT_FIND(n, i, test)                                         \
	({                                                            \
		size_t sort_lo = 0, sort_hi = (n);                    \
		while (sort_lo < sort_hi) {                           \
			size_t i = sort_lo + (sort_hi - sort_lo) / 2; \
			if (test)                                     \
				sort_lo = i + 1;                      \
			else                                          \
				sort_hi = i;                          \
		}                                                     \
		sort_lo;                                              \
	})

/*
 * For records that are mostly in order: SORT_STABLE(sort_sides, struct side, time) makes
 * static void sort_sides(struct side *a, struct side *tmp, size_t n); tmp has room for n / 2.
 * What is in order already costs one pass.
 */
#define SORT_STABLE(name, type, field)                                           \
	static void name(type *a, type *tmp, size_t n)                           \
	{                                                                        \
		size_t half = n / 2, i = 0, j = half, k = 0;                     \
                                                                                 \
		if (n < 2)                                                       \
			return;                                                  \
		name(a, tmp, half);                                              \
		name(a + half, tmp, n - half);                                   \
		if (a[half - 1].field <= a[half].field)                          \
			return;                                                  \
		memcpy(tmp, a, half * sizeof(*a));                               \
		while (i < half && j < n)                                        \
			a[k++] = tmp[i].field <= a[j].field ? tmp[i++] : a[j++]; \
		memcpy(a + k, tmp + i, (half - i) * sizeof(*a));                 \
	}
