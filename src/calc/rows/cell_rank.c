/* SPDX-License-Identifier: MIT */
/*
 * Which of two cells stands first. This is decided once for all that a column has, so that rows are
 * compared by small numbers, however many there are and however long their texts.
 */
#include <string.h>

#include "base/pool.h"
#include "base/sort.h"
#include "calc/rows/cell.h"

struct ranking {
	const struct cells *c;
	const struct column *col;
	int (*compare)(const struct ranking *r, uint64_t a, uint64_t b);
	/* A number that is smaller for what stands before, or the same where compare must say. */
	uint64_t (*guess)(const struct ranking *r, uint64_t v);
	const uint64_t *value; /* those that there are, each once */
};

static int cell_rank_by_value(const struct ranking *r, uint64_t a, uint64_t b)
{
	return key_compare(r->c, r->col->key, a, b);
}

/* Of most columns there are few values. */
static uint64_t guess_value(const struct ranking *r, uint64_t v)
{
	const struct key_type *t = key_infos[r->col->key].type;

	return t && t->guess && !key_infos[r->col->key].falls ? t->guess(r->c, v) : 0;
}

static int cell_rank_by_name(const struct ranking *r, uint64_t a, uint64_t b)
{
	const struct symbols *s = r->c->names->symbols;

	if (a == SYMBOLS_NONE || b == SYMBOLS_NONE)
		return a == SYMBOLS_NONE ? 1 : -1;
	return strcmp(symbols_text(s, (uint32_t)a), symbols_text(s, (uint32_t)b));
}

static uint64_t guess_name(const struct ranking *r, uint64_t v)
{
	const char *text = v == SYMBOLS_NONE ? "" : symbols_text(r->c->names->symbols, (uint32_t)v);
	uint64_t guess = 0;

	if (v == SYMBOLS_NONE)
		return UINT64_MAX;
	for (int i = 0; i < 8; i++)
		guess = guess << 8 | (unsigned char)(*text ? *text++ : 0);
	return guess;
}

static int cell_rank_compare(const void *a, const void *b, void *ctx)
{
	const struct ranking *r = ctx;
	uint64_t x = r->value[((const struct sort_key *)a)->index];
	uint64_t y = r->value[((const struct sort_key *)b)->index];

	return x == y ? 0 : r->compare(r, x, y);
}

/* The ranks of n values, each there once: in the order of v, into rank. */
static uint32_t rank_values(struct ranking *r, struct sort_key *v, size_t n, uint32_t *rank)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct sort_key){ r->guess(r, r->value[i]), i };
	sort_keys(v, n);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end].key == v[i].key; end++)
			;
		if (end - i > 1)
			qsort_r(v + i, end - i, sizeof(*v), cell_rank_compare, r);
		for (size_t k = i; k < end; k++) {
			if (k == i || cell_rank_compare(&v[k - 1], &v[k], r) != 0)
				next++;
			rank[v[k].index] = next - 1;
		}
	}
	return next;
}

/* value: by class, and after it no longer needed. */
static struct cell_ranks make_ranks(struct ranking *r, uint64_t *value, uint32_t n)
{
	struct cell_ranks ranks = { .of = mem_table((n + 1ul) * sizeof(*ranks.of), false) };
	AUTO_FREE struct sort_key *v = mem_table((n + 1ul) * sizeof(*v), false);
	AUTO_FREE uint32_t *rank = NULL;
	size_t used = 0;

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct sort_key){ value[i], i };
	sort_keys(v, n);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || v[i].key != v[i - 1].key)
			value[used++] = v[i].key;
		ranks.of[v[i].index] = (uint32_t)used - 1;
	}
	rank = mem_grow(NULL, (used + 1) * sizeof(*rank));
	r->value = value;
	ranks.n = rank_values(r, v, used, rank);
	for (uint32_t i = 0; i < n; i++)
		ranks.of[i] = rank[ranks.of[i]];
	return ranks;
}

/* by_names: of symbols as output has them. */
static void rank_column(struct cells *c, unsigned column, bool by_names)
{
	const struct columns *cols = c->opts.columns;
	const struct column *col = &cols->col[column];
	bool of_site = key_infos[col->key].kind == KEY_OF_SITE;
	uint32_t n = of_site ? c->n_site_classes : c->n_entry_classes;
	AUTO_FREE uint64_t *value = mem_table((n + 1ul) * sizeof(*value), false);
	struct ranking r = { .c = c,
			     .col = col,
			     .compare = by_names ? cell_rank_by_name : cell_rank_by_value,
			     .guess = by_names ? guess_name : guess_value };

	for (uint32_t k = 0; k < n; k++) {
		value[k] = cell_value(c, col, (struct cell_pair){ k, k });
		if (by_names)
			value[k] = c->names->frames.data[value[k]].name;
	}
	*(by_names ? &c->names_ranks : &c->ranks[column]) = make_ranks(&r, value, n);
}

/* One for each column, and behind them one for the names of symbols. */
static int rank_job(void *ctx, size_t job, unsigned worker)
{
	struct cells *c = ctx;
	const struct columns *cols = c->opts.columns;
	const struct column *symbol = columns_find(cols, KEY_SYM);

	if (job == cols->n && symbol)
		rank_column(c, (unsigned)(symbol - cols->col), true);
	else if (job < cols->n && key_infos[cols->col[job].key].kind != KEY_SUM)
		rank_column(c, (unsigned)job, false);
	return 0;
}

#define MANY 4096 /* classes for which threads are worth their while */

void cells_rank(struct cells *c)
{
	bool many = c->n_site_classes > MANY || c->n_entry_classes > MANY;

	pool_run(c->opts.columns->n + 1, many ? pool_threads() : 1, rank_job, c);
}
