/* SPDX-License-Identifier: MIT */
#include "sym/elf/segments.h"

#include "base/sort.h"
#include "base/vec.h"

/* Of those intervals that cover the sweep's position, the one with the largest value is on top. */
struct heap {
	VEC(const struct interval *) list;
};

static void heap_push(struct heap *h, const struct interval *x)
{
	size_t i = h->list.n;

	vec_push(&h->list, x);
	for (; i > 0 && h->list.data[(i - 1) / 2]->value < x->value; i = (i - 1) / 2)
		h->list.data[i] = h->list.data[(i - 1) / 2];
	h->list.data[i] = x;
}

static void heap_pop(struct heap *h)
{
	const struct interval *x = h->list.data[--h->list.n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->list.n) {
		if (child + 1 < h->list.n &&
		    h->list.data[child + 1]->value > h->list.data[child]->value)
			child++;
		if (h->list.data[child]->value <= x->value)
			break;
		h->list.data[i] = h->list.data[child];
		i = child;
	}
	if (h->list.n)
		h->list.data[i] = x;
}

typedef VEC(struct segment) segment_vec;

static void emit(segment_vec *out, uint64_t lo, uint32_t value)
{
	if (out->n && out->data[out->n - 1].lo == lo)
		out->n--;
	if ((out->n ? out->data[out->n - 1].value : 0) != value)
		vec_push(out, (struct segment){ lo, value });
}

/* Overlapping intervals into neighbouring segments, each with the largest value that covers it. */
struct segments segments_flatten(const struct interval *list, size_t n)
{
	AUTO_FREE struct sort_key *order = mem_grow(NULL, n * sizeof(*order));
	struct heap h = { 0 };
	segment_vec out = { 0 };
	uint64_t pos = 0;
	size_t i;

	for (i = 0; i < n; i++)
		order[i] = (struct sort_key){ list[i].lo, (uint32_t)i };
	sort_keys(order, n);
	for (i = 0; i < n || h.list.n;) {
		const struct interval *top;

		if (!h.list.n)
			pos = order[i].key;
		for (; i < n && order[i].key <= pos; i++)
			heap_push(&h, &list[order[i].index]);
		while (h.list.n && h.list.data[0]->hi <= pos) /* gone by */
			heap_pop(&h);
		if (!h.list.n) {
			emit(&out, pos, 0);
			continue;
		}
		top = h.list.data[0];
		emit(&out, pos, top->value);
		pos = i < n && order[i].key < top->hi ? order[i].key : top->hi;
		if (i == n && h.list.n == 1) {
			emit(&out, pos, 0);
			break;
		}
	}
	vec_free(&h.list);
	return (struct segments){ out.data, out.n };
}

/* How many segments begin up to an address. */
static size_t segments_to(const struct segments *s, uint64_t addr)
{
	return SORT_FIND(s->n, i, s->data[i].lo <= addr);
}

uint32_t segments_find(const struct segments *s, uint64_t addr)
{
	size_t n = segments_to(s, addr);

	return n ? s->data[n - 1].value : 0;
}

uint32_t segments_span(const struct segments *s, uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	size_t n = segments_to(s, addr);

	if (n && s->data[n - 1].lo > *lo)
		*lo = s->data[n - 1].lo;
	if (n < s->n && s->data[n].lo < *hi)
		*hi = s->data[n].lo;
	return n ? s->data[n - 1].value : 0;
}
