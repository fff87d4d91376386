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

#include "base/pool.h"
#include "base/sort.h"
#include "calc/rows/hist.h"
#include "calc/rows/order.h"

/* Numbers for some rows, by which they stand in the order of several columns. */
struct numbers {
	const struct hist *h;
	const uint32_t *rows;
	size_t n;
	uint64_t *of; /* each is at most max; they stand where they are needed in the end, ... */
	size_t apart; /* ... so far from each other */
	uint64_t max;
};

/* The same order in the smallest numbers that have it. */
static uint64_t make_dense(uint64_t *of, size_t apart, size_t n)
{
	AUTO_FREE struct sort_key *v = mem_table((n + 1) * sizeof(*v), false);
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct sort_key){ of[i * apart], i };
	sort_keys(v, n);
	for (size_t i = 0; i < n; i++) {
		last += i && v[i].key != v[i - 1].key;
		of[v[i].index * apart] = last;
	}
	return last;
}

/* Makes room for a further value of at most max. false: there is none. */
static bool hist_order_make_room(struct numbers *k, uint64_t max)
{
	uint64_t all;

	if (max < UINT64_MAX && k->max < UINT64_MAX &&
	    !__builtin_mul_overflow(k->max + 1, max + 1, &all))
		return true;
	k->max = make_dense(k->of, k->apart, k->n);
	return max < UINT64_MAX && !__builtin_mul_overflow(k->max + 1, max + 1, &all);
}

/* Rows that were equal so far stand in the order of value, which is at most max and gets lost. */
static void refine(struct numbers *k, uint64_t *value, uint64_t max)
{
	if (!hist_order_make_room(k, max))
		max = make_dense(value, 1, k->n);
	for (size_t i = 0; i < k->n; i++)
		k->of[i * k->apart] = k->of[i * k->apart] * (max + 1) + value[i];
	k->max = k->max * (max + 1) + max;
}

/* Larger sums come first. member: of a group's other events, or -1. */
static void refine_by_sum(struct numbers *k, enum key key, int member)
{
	AUTO_FREE uint64_t *value = mem_table((k->n + 1) * sizeof(*value), false);
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

/* Ranks are small, so that there is always room for them. */
static void refine_by_cell(struct numbers *k, const struct column *c, bool shown)
{
	const struct cells *cells = k->h->cells;
	bool of_site = key_infos[c->key].kind == KEY_OF_SITE;
	const struct cell_ranks *r = shown && c->key == KEY_SYM
					     ? &cells->names_ranks
					     : &cells->ranks[c - cells->opts.columns->col];
	uint64_t max = r->n;

	hist_order_make_room(k, max);
	for (size_t i = 0; i < k->n; i++) {
		struct cell_pair at = k->h->rows.data[k->rows[i]].at;
		uint64_t *of = &k->of[i * k->apart];

		*of = *of * (max + 1) + r->of[of_site ? at.site : at.entry];
	}
	k->max = k->max * (max + 1) + max;
}

/* What rows are compared by for output. */
enum { BEFORE, WHO, AFTER, SHOWN }; /* WHO: thread and depth */
struct shown {
	uint64_t key[SHOWN];
};

/* The two halves of the work before rows can be inserted. */
struct ordering {
	const struct hist *h;
	const uint32_t *rows;
	size_t n;
	struct sort_key *insert; /* places in rows, in the order in which they are inserted */
	struct shown *shown;
};

/* Rows that show the same in every column are one: what is left is a definite order. */
static void order_by_cells(struct ordering *o)
{
	const struct columns *cols = o->h->cells->opts.columns;
	struct numbers k = { .h = o->h,
			     .rows = o->rows,
			     .n = o->n,
			     .of = &o->insert[0].key,
			     .apart = sizeof(*o->insert) / sizeof(uint64_t) };

	for (uint32_t i = 0; i < o->n; i++)
		o->insert[i] = (struct sort_key){ .index = i };
	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];

		if (!column_is_sum(c) && column_applies(c, o->h->opts.type))
			refine_by_cell(&k, c, false);
	}
	sort_keys(o->insert, o->n);
}

static void number_shown(struct ordering *o)
{
	const struct hist *h = o->h;
	const struct columns *cols = h->cells->opts.columns;
	struct numbers before = { .h = h,
				  .rows = o->rows,
				  .n = o->n,
				  .of = &o->shown[0].key[BEFORE],
				  .apart = sizeof(*o->shown) / sizeof(uint64_t) };
	struct numbers after = before;
	struct numbers *k = columns_have(cols, KEY_CHILDREN) ? &before : &after;

	after.of = &o->shown[0].key[AFTER];
	for (size_t i = 0; i < o->n; i++) {
		const struct hist_row *r = &h->rows.data[o->rows[i]];

		o->shown[i] = (struct shown){ { [WHO] = (uint64_t)r->tid << 32 | r->depth } };
	}
	for (unsigned i = 0; i < cols->n; i++) {
		const struct column *c = &cols->col[cols->sort[i]];

		if (c->hidden || !column_applies(c, h->opts.type))
			continue;
		if (c->key == KEY_CHILDREN) {
			if (h->opts.children)
				refine_by_sum(k, c->key, -1);
			k = &after;
		} else if (column_is_sum(c)) {
			refine_by_sums(k, c->key);
		} else {
			refine_by_cell(k, c, true);
		}
	}
}

static int ordering_job(void *ctx, size_t job, unsigned worker)
{
	if (job == 0)
		number_shown(ctx);
	else
		order_by_cells(ctx);
	return 0;
}

/* Does a row stand above another? */
static inline bool is_above(const uint64_t *x, const uint64_t *y, bool chains, bool caller)
{
	if (x[BEFORE] != y[BEFORE])
		return x[BEFORE] < y[BEFORE];
	if (chains && x[WHO] >> 32 == y[WHO] >> 32 && x[WHO] != y[WHO])
		return (x[WHO] > y[WHO]) == caller;
	return x[AFTER] < y[AFTER];
}

#define AHEAD 16   /* rows */
#define STEP 16384 /* rows a job */

/* What is taken from all over the memory, by all threads. */
struct taking {
	const struct ordering *o;
	const uint32_t *copy;
	uint32_t *rows;
	struct order_tree *tree;
};

static int take_job(void *ctx, size_t job, unsigned worker)
{
	const struct taking *t = ctx;
	const struct ordering *o = t->o;
	size_t end = (job + 1) * STEP < o->n ? (job + 1) * STEP : o->n;

	for (size_t i = job * STEP; i < end; i++) {
		uint32_t from = o->insert[i].index;

		if (i + AHEAD < end)
			mem_fetch(&o->shown[o->insert[i + AHEAD].index]);
		memcpy(t->tree->node[i + 1].key, o->shown[from].key, sizeof(o->shown[from].key));
		t->rows[i] = t->copy[from];
	}
	return 0;
}

/* What is needed of rows in the order in which they are inserted; o's own is freed. */
static void take_shown(struct ordering *o, uint32_t *rows, struct order_tree *tree)
{
	AUTO_FREE uint32_t *copy = mem_dup(rows, o->n * sizeof(*rows));
	struct taking t = { .o = o, .copy = copy, .rows = rows, .tree = tree };

	pool_run((o->n + STEP - 1) / STEP, 0, take_job, &t);
	free(o->insert);
	free(o->shown);
}

/* rows: before, in the order of o->shown; after, in the order of output. */
static void insert_all(struct ordering *o, uint32_t *rows)
{
	AUTO_FREE uint32_t *copy = NULL;
	const struct column *children = columns_find(o->h->cells->opts.columns, KEY_CHILDREN);
	bool caller = o->h->opts.caller;
	bool chains = children && !children->hidden && o->h->opts.children && o->h->opts.use_chains;
	struct order_tree t;

	order_tree_init(&t, o->n);
	take_shown(o, rows, &t);
	copy = mem_dup(rows, o->n * sizeof(*rows));
	for (uint32_t i = 1; i <= o->n; i++) {
		uint32_t at = t.root, parent = 0;
		uint64_t mine[SHOWN];
		bool below = false;

		memcpy(mine, t.node[i].key, sizeof(mine));
		while (at) {
			parent = at;
			below = !is_above(mine, t.node[at].key, chains, caller);
			/* a jump: rows go the way of those before them, which is foreseen */
			if (__builtin_expect_with_probability(below, 1, 0.6))
				at = t.node[at].child[1];
			else
				at = t.node[at].child[0];
		}
		order_put(&t, i, parent, below);
	}
	for (uint32_t at = order_first(&t); at; at = order_next(&t, at))
		*rows++ = copy[at - 1];
	order_tree_free(&t);
}

#define MANY 16384 /* rows for which a thread is worth its while */

void hist_order_some(const struct hist *h, uint32_t *rows, size_t n)
{
	struct ordering o = { .h = h, .rows = rows, .n = n };

	if (n < 2)
		return;
	o.insert = mem_table(n * sizeof(*o.insert), false);
	o.shown = mem_table(n * sizeof(*o.shown), false);
	pool_run(2, n < MANY ? 1 : 0, ordering_job, &o);
	insert_all(&o, rows);
}

struct moving {
	const struct hist_row *from;
	struct hist_row *to;
	const uint32_t *order;
	size_t n;
};

static int move_job(void *ctx, size_t job, unsigned worker)
{
	const struct moving *m = ctx;
	size_t end = (job + 1) * STEP < m->n ? (job + 1) * STEP : m->n;

	for (size_t i = job * STEP; i < end; i++) {
		if (i + AHEAD < end) {
			mem_fetch(&m->from[m->order[i + AHEAD]]);
			mem_fetch(&m->from[m->order[i + AHEAD]].count);
		}
		m->to[i] = m->from[m->order[i]];
	}
	return 0;
}

void hist_order(struct hist *h)
{
	uint32_t n = (uint32_t)h->rows.n;
	AUTO_FREE uint32_t *order = mem_table((n + 1ul) * sizeof(*order), false);
	struct moving m = { .from = h->rows.data, .order = order, .n = n };

	if (n < 2)
		return;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	hist_order_some(h, order, n);
	m.to = mem_table(n * sizeof(*m.to), false);
	pool_run((n + STEP - 1) / STEP, 0, move_job, &m);
	free(h->rows.data);
	h->rows.data = m.to;
	h->rows.cap = n;
}
