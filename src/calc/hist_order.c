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
 *
 * All that a row is compared by is put into two numbers beforehand: what comes before that
 * rule, and what comes after it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "calc/hist.h"
#include "calc/order.h"

/* A number for each of some rows, by which they stand in the order of several columns. */
struct numbers {
	const struct hist *h;
	const uint32_t *rows;
	size_t n;
	uint64_t *of; /* each is at most max */
	uint64_t max;
};

static struct numbers numbers_new(const struct hist *h, const uint32_t *rows, size_t n)
{
	return (struct numbers){
		.h = h, .rows = rows, .n = n, .of = mem_alloc((n + 1) * sizeof(uint64_t))
	};
}

/* The same order in the smallest numbers that have it. */
static uint64_t make_dense(uint64_t *of, size_t n)
{
	AUTO_FREE struct sort_key *v = mem_grow(NULL, (n + 1) * sizeof(*v));
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct sort_key){ of[i], i };
	sort_keys(v, n);
	for (size_t i = 0; i < n; i++) {
		last += i && v[i].key != v[i - 1].key;
		of[v[i].index] = last;
	}
	return last;
}

/* Rows that were equal so far stand in the order of value, which is at most max and gets lost. */
static void refine(struct numbers *k, uint64_t *value, uint64_t max)
{
	uint64_t all;

	if (__builtin_mul_overflow(k->max + 1, max + 1, &all) || !(k->max + 1) || !(max + 1)) {
		k->max = make_dense(k->of, k->n);
		max = make_dense(value, k->n);
	}
	for (size_t i = 0; i < k->n; i++)
		k->of[i] = k->of[i] * (max + 1) + value[i];
	k->max = k->max * (max + 1) + max;
}

/* Larger sums come first. member: of a group's other events, or -1. */
static void refine_by_sum(struct numbers *k, enum key key, int member)
{
	AUTO_FREE uint64_t *value = mem_grow(NULL, (k->n + 1) * sizeof(*value));
	uint64_t max = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct hist_row *r = member < 0
						   ? &k->h->rows.data[k->rows[i]]
						   : hist_pair(k->h, k->rows[i], (unsigned)member);

		value[i] = r ? hist_sum(k->h, r, key) : 0;
		max = value[i] > max ? value[i] : max;
	}
	for (size_t i = 0; i < k->n; i++)
		value[i] = max - value[i];
	refine(k, value, max);
}

/* Where the leader's sums are equal, those of the group's other events decide. */
static void refine_by_sums(struct numbers *k, enum key key)
{
	unsigned first = k->h->sort_member;

	if (!first)
		refine_by_sum(k, key, -1);
	else /* the one asked for first, then the others */
		refine_by_sum(k, key, (int)first - 1);
	for (unsigned m = 0; m < k->h->n_members; m++)
		if (m + 1 != first)
			refine_by_sum(k, key, (int)m);
}

static void refine_by_cell(struct numbers *k, const struct column *c, bool shown)
{
	AUTO_FREE uint64_t *value = mem_grow(NULL, (k->n + 1) * sizeof(*value));
	const struct cells *cells = k->h->cells;
	uint32_t max = cells->ranks[c - cells->opts.columns->col].n;

	shown = shown && c->key == KEY_SYM;
	if (shown)
		max = cells->names_ranks.n;
	for (size_t i = 0; i < k->n; i++) {
		struct cell_pair at = k->h->rows.data[k->rows[i]].at;

		value[i] = shown ? cells->names_ranks.of[at.site] : cell_rank(cells, c, at);
	}
	refine(k, value, max);
}

static bool is_sum(const struct column *c)
{
	return key_infos[c->key].kind == KEY_SUM;
}

/* Rows that show the same in every column are one: what is left is a definite order. */
static void order_by_cells(const struct hist *h, uint32_t *rows, size_t n)
{
	const struct columns *cols = h->cells->opts.columns;
	struct numbers k = numbers_new(h, rows, n);
	AUTO_FREE struct sort_key *v = mem_grow(NULL, (n + 1) * sizeof(*v));

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];

		if (!is_sum(c) && column_applies(c, h->opts.type))
			refine_by_cell(&k, c, false);
	}
	for (size_t i = 0; i < n; i++)
		v[i] = (struct sort_key){ k.of[i], rows[i] };
	free(k.of);
	sort_keys(v, n);
	for (size_t i = 0; i < n; i++)
		rows[i] = v[i].index;
}

/* A row as it is compared for output. */
struct shown {
	uint64_t before, after;
	int32_t tid;
	uint32_t depth;
};

struct shown_rows {
	const struct shown *of;
	bool caller, chains;
};

/* Below 0 when row a stands above row b. */
static int compare_shown(void *ctx, uint32_t a, uint32_t b)
{
	const struct shown_rows *s = ctx;
	const struct shown *x = &s->of[a], *y = &s->of[b];

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (s->chains && x->tid == y->tid && x->depth != y->depth)
		return (x->depth > y->depth) == s->caller ? -1 : 1;
	return x->after < y->after ? -1 : x->after > y->after;
}

static void number_shown(const struct hist *h, const uint32_t *rows, size_t n, struct shown *ret)
{
	const struct columns *cols = h->cells->opts.columns;
	struct numbers before = numbers_new(h, rows, n), after = numbers_new(h, rows, n);
	struct numbers *k = columns_have(cols, KEY_CHILDREN) ? &before : &after;

	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];

		if (c->hidden || !column_applies(c, h->opts.type))
			continue;
		if (c->key == KEY_CHILDREN) {
			if (h->opts.children)
				refine_by_sum(k, c->key, -1);
			k = &after;
		} else if (is_sum(c)) {
			refine_by_sums(k, c->key);
		} else {
			refine_by_cell(k, c, true);
		}
	}
	for (size_t i = 0; i < n; i++) {
		const struct hist_row *r = &h->rows.data[rows[i]];

		ret[i] = (struct shown){ before.of[i], after.of[i], r->tid, r->depth };
	}
	free(before.of);
	free(after.of);
}

void hist_order_some(const struct hist *h, uint32_t *rows, size_t n)
{
	AUTO_FREE struct shown *shown = NULL;
	AUTO_FREE uint32_t *order = NULL;
	const struct column *children = columns_find(h->cells->opts.columns, KEY_CHILDREN);
	struct shown_rows s = { .caller = h->opts.caller,
				.chains = children && !children->hidden && h->opts.children &&
					  h->opts.use_chains };

	if (n < 2)
		return;
	order_by_cells(h, rows, n);
	s.of = shown = mem_grow(NULL, n * sizeof(*shown));
	number_shown(h, rows, n, shown);
	order = mem_grow(NULL, n * sizeof(*order));
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	order_insert(order, n, compare_shown, &s);
	for (size_t i = 0; i < n; i++)
		order[i] = rows[order[i]];
	memcpy(rows, order, n * sizeof(*rows));
}

void hist_order(struct hist *h)
{
	uint32_t n = (uint32_t)h->rows.n;
	AUTO_FREE uint32_t *order = mem_alloc((n + 1ul) * sizeof(*order));
	struct hist_row *row = h->rows.data;

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	hist_order_some(h, order, n);
	/* each goes where it belongs, around every circle of them: a copy would take much room */
	for (uint32_t i = 0; i < n; i++) {
		struct hist_row first = row[i];
		uint32_t at = i;

		while (order[at] != i) {
			uint32_t from = order[at];

			row[at] = row[from];
			order[at] = at;
			at = from;
		}
		row[at] = first;
		order[at] = at;
	}
}
