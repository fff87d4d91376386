/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include "base/mem.h"

#define DIGIT 11
#define BUCKETS (1u << DIGIT)
#define SMALL 32

static void insertion(struct sort_key *k, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sort_key x = k[i];
		size_t j = i;

		for (; j > 0 && k[j - 1].key > x.key; j--)
			k[j] = k[j - 1];
		k[j] = x;
	}
}

void sort_keys(struct sort_key *keys, size_t n)
{
	AUTO_FREE struct sort_key *spare = NULL;
	AUTO_FREE size_t *at = NULL;
	struct sort_key *from = keys, *to;
	uint64_t differ = 0;
	bool ordered = true;

	for (size_t i = 1; i < n; i++) {
		differ |= keys[i].key ^ keys[0].key;
		ordered &= keys[i - 1].key <= keys[i].key;
	}
	if (ordered)
		return;
	if (n <= SMALL) {
		insertion(keys, n);
		return;
	}
	spare = mem_table(n * sizeof(*keys), false);
	to = spare;
	at = mem_grow(NULL, BUCKETS * sizeof(*at));
	for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT) {
		struct sort_key *swap;
		size_t sum = 0;

		if (!(differ >> shift & (BUCKETS - 1)))
			continue;
		memset(at, 0, BUCKETS * sizeof(*at));
		for (size_t i = 0; i < n; i++)
			at[from[i].key >> shift & (BUCKETS - 1)]++;
		for (size_t b = 0; b < BUCKETS; b++) {
			size_t count = at[b];

			at[b] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[at[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}

static int ascending(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

size_t sort_unique(int *v, size_t n)
{
	size_t left = 0;

	if (n)
		qsort(v, n, sizeof(*v), ascending);
	for (size_t i = 0; i < n; i++)
		if (!left || v[left - 1] != v[i])
			v[left++] = v[i];
	return left;
}
