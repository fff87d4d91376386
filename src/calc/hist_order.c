/* SPDX-License-Identifier: MIT */
/*
 * The order of rows, as perf has it.
 *
 * Of two rows with equal sums of one thread, callers stand above what they
 * call; rows of different threads are then compared by their other columns. This
 * is no total order (A above B above C above A happens, with many rows of one
 * sample each), so the result depends on how rows are put in order: perf inserts
 * them, in the order of their keys, into a red-black tree. To show the same, this
 * does the same.
 */
#include <stdlib.h>
#include <string.h>

#include "calc/hist.h"
#include "calc/order.h"

static int number_order(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b; /* the larger one first */
}

/* Where the leader's sums are equal, those of the group's other events decide. */
static int sum_order(const struct hist *h, uint32_t a, uint32_t b, enum key key)
{
	const struct hist_row *x = &h->rows.data[a], *y = &h->rows.data[b];
	int r = number_order(hist_sum(h, x, key), hist_sum(h, y, key));
	unsigned first = h->sort_member;

	if (!h->n_members || (r && !first))
		return r;
	for (unsigned i = 0; i < h->n_members; i++) {
		/* the one asked for first, then the others */
		unsigned m = first && i == 0 ? first - 1 : first && i < first ? i - 1 : i;
		const struct hist_row *p = hist_pair(h, a, m), *q = hist_pair(h, b, m);
		int c = number_order(p ? hist_sum(h, p, key) : 0, q ? hist_sum(h, q, key) : 0);

		if (c)
			return c;
	}
	return 0;
}

static int children_order(const struct hist *h, const struct hist_row *x, const struct hist_row *y)
{
	int r = h->opts.children ? number_order(x->total, y->total) : 0;

	if (r || !h->opts.children || x->tid != y->tid || !h->opts.use_chains ||
	    x->depth == y->depth)
		return r;
	return (x->depth > y->depth) == h->opts.caller ? -1 : 1;
}

/* Below 0 when row a stands above row b. */
static int shown_order(const struct hist *h, uint32_t a, uint32_t b)
{
	const struct columns *cols = h->cells->opts.columns;
	const struct hist_row *x = &h->rows.data[a], *y = &h->rows.data[b];

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];
		int r;

		if (c->hidden || !column_applies(c, h->opts.type))
			continue;
		if (c->key == KEY_CHILDREN)
			r = children_order(h, x, y);
		else if (key_infos[c->key].kind == KEY_SUM)
			r = sum_order(h, a, b, c->key);
		else
			r = cell_compare_shown(h->cells, c, x->at, y->at);
		if (r)
			return r;
	}
	return 0;
}

static int key_order(const void *pa, const void *pb, void *ctx)
{
	const struct hist *h = ctx;
	const struct columns *cols = h->cells->opts.columns;
	const struct hist_row *x = &h->rows.data[*(const uint32_t *)pa];
	const struct hist_row *y = &h->rows.data[*(const uint32_t *)pb];

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];
		int r;

		if (key_infos[c->key].kind == KEY_SUM || !column_applies(c, h->opts.type))
			continue;
		r = cell_compare(h->cells, c, x->at, y->at);
		if (r)
			return r;
	}
	return 0;
}

static int compare_shown(void *ctx, uint32_t a, uint32_t b)
{
	return shown_order(ctx, a, b);
}

void hist_order_some(const struct hist *h, uint32_t *rows, size_t n)
{
	if (n < 2)
		return;
	qsort_r(rows, n, sizeof(*rows), key_order, (void *)h);
	order_insert(rows, n, compare_shown, (void *)h);
}

void hist_order(struct hist *h)
{
	size_t n = h->rows.n;
	AUTO_FREE uint32_t *order = mem_alloc((n + 1) * sizeof(*order));
	struct hist_row *sorted;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	hist_order_some(h, order, n);
	sorted = mem_grow(NULL, (n + 1) * sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		sorted[i] = h->rows.data[order[i]];
	free(h->rows.data);
	h->rows.data = sorted;
	h->rows.cap = n + 1;
}
