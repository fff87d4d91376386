/* SPDX-License-Identifier: MIT */
/*
 * Which of two cells stands first. This is decided once for all that a column has, so that rows are
 * compared by small numbers, however many there are and however long their texts.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "base/pool.h"
#include "base/sort.h"
#include "calc/rows/cell.h"

static int number_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Addresses count from the kernel's, which are negative, upwards. */
static int signed_order(uint64_t a, uint64_t b)
{
	return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
}

/* What nothing is known of comes last. */
static int dso_order(const struct cells *c, uint64_t a, uint64_t b)
{
	uint32_t none = c->dso_text[0];

	if (a == b)
		return 0;
	if (a == none || b == none)
		return a == none ? 1 : -1;
	return strcmp(strtab_get(&c->texts, (uint32_t)a), strtab_get(&c->texts, (uint32_t)b));
}

/* What has no name comes last. by_file: a column of files stands beside the symbols. */
static int symbol_order(const struct cells *c, bool by_file, uint32_t a, uint32_t b)
{
	const struct name_frame *x = &c->names->frames.data[a], *y = &c->names->frames.data[b];
	bool x_named = x->name != SYMBOLS_NONE, y_named = y->name != SYMBOLS_NONE;
	int r;

	if (a == b)
		return 0;
	if (x_named != y_named)
		return x_named ? -1 : 1;
	if (!x_named) {
		r = signed_order(x->addr, y->addr);
		return r ? r : dso_order(c, c->dso_text[x->dso + 1], c->dso_text[y->dso + 1]);
	}
	if (!by_file) {
		r = dso_order(c, c->dso_text[x->dso + 1], c->dso_text[y->dso + 1]);
		if (r)
			return r;
	}
	r = signed_order(x->addr, y->addr);
	if (r)
		return r;
	r = number_order(x->size, y->size);
	return r ? r : number_order(a, b);
}

static int text_order(const struct cells *c, uint64_t a, uint64_t b)
{
	return a == b ? 0
		      : strcmp(strtab_get(&c->texts, (uint32_t)a),
			       strtab_get(&c->texts, (uint32_t)b));
}

static int comm_order(const struct cells *c, uint64_t a, uint64_t b)
{
	const struct tasks *t = c->names->profile->trace->tasks;
	char x[TASK_NAME], y[TASK_NAME];

	return a == b ? 0
		      : strcmp(tasks_who_name(t, (uint32_t)a, x),
			       tasks_who_name(t, (uint32_t)b, y));
}

static int address_order(const struct cells *c, uint64_t a, uint64_t b)
{
	return signed_order(c->names->sites.data[a].addr, c->names->sites.data[b].addr);
}

static int level_order(uint64_t a, uint64_t b)
{
	union perf_mem_data_src x = { .val = a }, y = { .val = b };
	int r = number_order(x.mem_lvl, y.mem_lvl);

	return r ? r : number_order(a, b);
}

struct ranking {
	const struct cells *c;
	const struct column *col;
	bool by_file;
	int (*compare)(const struct ranking *r, uint64_t a, uint64_t b);
	/* A number that is smaller for what stands before, or the same where compare must say. */
	uint64_t (*guess)(const struct ranking *r, uint64_t v);
	const uint64_t *value; /* those that there are, each once */
};

static int by_value(const struct ranking *r, uint64_t a, uint64_t b)
{
	const struct cells *c = r->c;

	switch (r->col->key) {
	case KEY_COMM: return comm_order(c, a, b);
	case KEY_DSO: return dso_order(c, a, b);
	case KEY_DSO_FROM:
	case KEY_DSO_TO:
	case KEY_DSO_DADDR: return dso_order(c, b, a);
	case KEY_SYM:
	case KEY_IPC:
	case KEY_SYM_FROM:
	case KEY_SYM_TO: return symbol_order(c, r->by_file, (uint32_t)a, (uint32_t)b);
	case KEY_SRCLINE:
	case KEY_SRCFILE:
	case KEY_SRCLINE_FROM:
	case KEY_SRCLINE_TO: return text_order(c, a, b);
	case KEY_CGROUP_ID: return text_order(c, b, a);
	case KEY_PARENT: /* without one last */
		return a && b ? text_order(c, a - 1, b - 1) : a ? -1 : 1;
	case KEY_LOCAL_WEIGHT: /* heavy ones first */
	case KEY_WEIGHT:
	case KEY_LOCAL_INS_LAT:
	case KEY_INS_LAT:
	case KEY_TRANSACTION:
	case KEY_CYCLES: return number_order(b, a);
	case KEY_ADDR_FROM:
	case KEY_ADDR_TO:
	case KEY_SYM_DADDR:
	case KEY_SYM_IADDR:
	case KEY_DCACHELINE: return address_order(c, a, b);
	case KEY_ADDR: return signed_order(a, b);
	case KEY_MEM: return level_order(a, b);
	default: return number_order(a, b);
	}
}

/* Many symbols are common, and so are many times; of most other columns there are few values. */
static uint64_t guess_value(const struct ranking *r, uint64_t v)
{
	const struct name_frame *f;

	switch (r->col->key) {
	case KEY_SYM:
		f = &r->c->names->frames.data[v];
		if (f->name == SYMBOLS_NONE)
			return (f->addr ^ INT64_MIN) >> 1 | 1ull << 63;
		return r->by_file ? (f->addr ^ INT64_MIN) >> 1 : 0;
	case KEY_PID:
	case KEY_TGID:
	case KEY_CPU:
	case KEY_TIME: return v;
	default: return 0;
	}
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
			     .by_file = columns_have(cols, KEY_DSO),
			     .compare = by_names ? cell_rank_by_name : by_value,
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

	(void)worker;
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
