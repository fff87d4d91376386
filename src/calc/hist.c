/* SPDX-License-Identifier: MIT */
#include "calc/hist.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/str.h"

/*
 * Rows are found by their pair of classes: in a plain array where there are few classes, which is
 * nearly always; else by hashing.
 */
#define DIRECT_MAX (1u << 20)

/* Rows being summed by one worker: found the same way as those of the finished table. */
struct table {
	VEC(struct hist_row) rows;
	uint32_t *slot;
	size_t cap;
	size_t direct; /* classes of sites; 0: hashed */
	uint32_t now;
	uint64_t count, weight, left_count, left_weight; /* wanted; left out altogether */
};

static uint64_t pair_hash(struct cell_pair at)
{
	return map_hash((uint64_t)at.entry << 32 | at.site);
}

static bool same_pair(struct cell_pair a, struct cell_pair b)
{
	return a.entry == b.entry && a.site == b.site;
}

static void table_grow(struct table *t)
{
	free(t->slot);
	t->cap = t->cap ? t->cap * 2 : 1024;
	t->slot = mem_alloc(t->cap * sizeof(*t->slot));
	for (size_t i = 0; i < t->rows.n; i++) {
		size_t at = pair_hash(t->rows.data[i].at) & (t->cap - 1);

		while (t->slot[at])
			at = (at + 1) & (t->cap - 1);
		t->slot[at] = (uint32_t)i + 1;
	}
}

static uint32_t row_at(struct table *t, struct cell_pair pair)
{
	size_t at;
	struct hist_row *r;

	if (t->direct) {
		at = pair.entry * t->direct + pair.site;
		if (t->slot[at])
			return t->slot[at] - 1;
	} else {
		if ((t->rows.n + 1) * 2 > t->cap)
			table_grow(t);
		at = pair_hash(pair) & (t->cap - 1);
		for (; t->slot[at]; at = (at + 1) & (t->cap - 1))
			if (same_pair(t->rows.data[t->slot[at] - 1].at, pair))
				return t->slot[at] - 1;
	}
	r = vec_add(&t->rows);
	r->at = pair;
	r->first = UINT64_MAX;
	t->slot[at] = (uint32_t)t->rows.n;
	return (uint32_t)t->rows.n - 1;
}

struct sum {
	struct hist *h;
	struct table *tables;
};

#define STEP 2048 /* entries a job */

static void deeper(struct hist_row *r, uint32_t depth)
{
	if (depth > r->depth)
		r->depth = depth;
}

/* Remember the first sample, whatever order they come in. */
static void note_first(struct hist_row *r, uint64_t time, int32_t tid, uint32_t site)
{
	if (time > r->first || (time == r->first && tid >= r->tid && r->first != UINT64_MAX))
		return;
	r->first = time;
	r->tid = tid;
	r->site = site;
}

static int mode_index(uint32_t mode)
{
	switch (mode) {
	case EVENT_MODE_KERNEL: return 0;
	case EVENT_MODE_USER: return 1;
	case EVENT_MODE_GUEST_KERNEL: return 2;
	case EVENT_MODE_GUEST_USER: return 3;
	default: return -1;
	}
}

enum { LEFT_OUT, ASIDE, WANTED };

/* Does the entry count for rows, only for the total, or not at all? */
static int wanted(const struct hist *h, size_t i)
{
	const struct names *n = h->cells->names;
	uint32_t site = n->entry_site[i], frame = n->sites.data[site].frame;
	const struct profile_entry *e = &n->profile->entries.data[i];

	if (h->opts.hide_unresolved && n->frames.data[frame].name == SYMBOLS_NONE)
		return LEFT_OUT;
	if (h->opts.site_wanted && !h->opts.site_wanted[site])
		return ASIDE;
	if (h->opts.exclude_other &&
	    (e->chain == PROFILE_NO_CHAIN || !h->cells->parent_of[e->chain]))
		return ASIDE;
	return WANTED;
}

static void sum_leaf(const struct hist *h, struct table *t, size_t i, uint32_t row)
{
	const struct names *n = h->cells->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	struct hist_row *r = &t->rows.data[row];
	int mode = mode_index(e->mode);

	r->count += e->count;
	r->all_count += e->count;
	r->self += e->weight;
	r->total += e->weight;
	if (mode >= 0)
		r->by_mode[mode] += e->weight;
	note_first(r, e->first, e->first_tid, n->entry_site[i]);
	if (e->chain == PROFILE_NO_CHAIN)
		return;
	r->chains++;
	deeper(r, n->chains[e->chain].n);
}

static void sum_entry(const struct hist *h, struct table *t, size_t i)
{
	const struct cells *c = h->cells;
	const struct names *n = c->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	struct cell_pair at = hist_pair_of(h, i);
	const struct name_chain *chain;
	struct hist_row *r;
	uint32_t row = row_at(t, at);

	t->count += e->count;
	t->weight += e->weight;
	sum_leaf(h, t, i, row);
	if (!h->opts.children || e->chain == PROFILE_NO_CHAIN)
		return;
	chain = &n->chains[e->chain];
	t->rows.data[row].stamp = ++t->now;
	for (uint32_t k = 0; k < chain->n; k++) {
		uint32_t from = h->opts.caller ? chain->n - 1 - k : k;
		uint32_t site = n->chain_sites[chain->first + from];

		at.site = c->site_class[site];
		row = row_at(t, at);
		r = &t->rows.data[row];
		if (r->stamp == t->now)
			continue;
		r->stamp = t->now;
		r->total += e->weight;
		r->all_count += e->count;
		r->chains++;
		note_first(r, e->first, e->first_tid, site);
		deeper(r, chain->n - k);
	}
}

/*
 * Rows are spread over more memory than caches hold: first where an entry's are looked for is
 * fetched, then what is found there.
 */
#define AHEAD 6 /* entries */

static void fetch_row(const struct table *t, struct cell_pair at, bool row)
{
	uint32_t *slot = t->cap ? &t->slot[pair_hash(at) & (t->cap - 1)] : NULL;

	if (!row)
		__builtin_prefetch(slot);
	else if (slot && *slot)
		__builtin_prefetch(&t->rows.data[*slot - 1]);
}

static void fetch(const struct hist *h, const struct table *t, size_t i, bool rows)
{
	const struct names *n = h->cells->names;
	uint32_t class = h->cells->entry_class[i], chain = n->profile->entries.data[i].chain;

	if (chain == PROFILE_NO_CHAIN || !t->cap)
		return;
	for (uint32_t k = 0; k < n->chains[chain].n; k++) {
		uint32_t site = n->chain_sites[n->chains[chain].first + k];

		fetch_row(t, (struct cell_pair){ class, h->cells->site_class[site] }, rows);
	}
}

static int sum_job(void *ctx, size_t job, unsigned worker)
{
	struct sum *s = ctx;
	const struct hist *h = s->h;
	struct table *t = &s->tables[worker];
	const struct profile *p = h->cells->names->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;

	for (size_t i = job * STEP; i < end; i++) {
		const struct profile_entry *e = &p->entries.data[i];

		if (h->opts.children && i + AHEAD < end) {
			fetch(h, t, i + AHEAD, false);
			fetch(h, t, i + AHEAD / 2, true);
		}
		if (e->type != h->opts.type)
			continue;
		switch (wanted(h, i)) {
		case WANTED: sum_entry(h, t, i); break;
		case LEFT_OUT: t->left_count += e->count; t->left_weight += e->weight;
		}
	}
	return 0;
}

static void table_add(struct table *t, struct table *other)
{
	uint32_t row;

	vec_each (&other->rows, r) {
		struct hist_row *to;

		if (r + AHEAD < other->rows.data + other->rows.n) {
			fetch_row(t, r[AHEAD].at, false);
			fetch_row(t, r[AHEAD / 2].at, true);
		}
		row = row_at(t, r->at); /* moves t->rows.data */
		to = &t->rows.data[row];

		to->count += r->count;
		to->all_count += r->all_count;
		to->self += r->self;
		to->total += r->total;
		for (unsigned m = 0; m < HIST_MODES; m++)
			to->by_mode[m] += r->by_mode[m];
		to->chains += r->chains;
		deeper(to, r->depth);
		note_first(to, r->first, r->tid, r->site);
	}
	t->count += other->count;
	t->weight += other->weight;
	t->left_count += other->left_count;
	t->left_weight += other->left_weight;
	vec_free(&other->rows);
	free(other->slot);
}

static void index_rows(struct hist *h)
{
	free(h->slot);
	h->slot_cap = 16;
	while (h->slot_cap < h->rows.n * 2)
		h->slot_cap *= 2;
	if (h->direct)
		h->slot_cap = h->direct_cap;
	h->slot = mem_alloc(h->slot_cap * sizeof(*h->slot));
	for (size_t i = 0; i < h->rows.n; i++) {
		struct cell_pair pair = h->rows.data[i].at;
		size_t at = h->direct ? pair.entry * h->direct + pair.site
				      : pair_hash(pair) & (h->slot_cap - 1);

		while (h->slot[at])
			at = (at + 1) & (h->slot_cap - 1);
		h->slot[at] = (uint32_t)i + 1;
	}
}

static inline uint32_t find_row(const struct hist *h, struct cell_pair pair)
{
	size_t at;

	if (h->direct) {
		at = h->slot[pair.entry * h->direct + pair.site];
		return at ? (uint32_t)at - 1 : HIST_NO_ROW;
	}
	at = pair_hash(pair) & (h->slot_cap - 1);
	while (h->slot[at] && !same_pair(h->rows.data[h->slot[at] - 1].at, pair))
		at = (at + 1) & (h->slot_cap - 1);
	return h->slot[at] ? h->slot[at] - 1 : HIST_NO_ROW;
}

uint32_t hist_find(const struct hist *h, struct cell_pair at)
{
	return find_row(h, at);
}

bool hist_counts(const struct hist *h, size_t i)
{
	return h->cells->names->profile->entries.data[i].type == h->opts.type &&
	       wanted(h, i) == WANTED;
}

/* Sizes of the plain array, if it would be small. */
static void choose_index(struct hist *h)
{
	const struct names *n = h->cells->names;
	size_t entries = 0, sites = 0;

	for (size_t i = 0; i < n->profile->entries.n; i++)
		if (h->cells->entry_class[i] >= entries)
			entries = h->cells->entry_class[i] + 1ul;
	for (size_t i = 0; i < n->sites.n; i++)
		if (h->cells->site_class[i] >= sites)
			sites = h->cells->site_class[i] + 1ul;
	if (!entries || !sites || entries > DIRECT_MAX / sites)
		return;
	h->direct = sites;
	h->direct_cap = entries * sites;
}

static void hide_rows(struct hist *h)
{
	const struct column *symbol = columns_find(h->cells->opts.columns, KEY_SYM);

	for (size_t i = 0; h->opts.symbol_part && symbol && i < h->rows.n; i++) {
		struct hist_row *r = &h->rows.data[i];
		const char *name = names_function(h->cells->names,
						  (uint32_t)cell_value(h->cells, symbol, r->at));

		r->hidden = !name || !strstr(name, h->opts.symbol_part);
	}
}

void hist_make(struct hist *h, const struct cells *c, const struct hist_opts *o)
{
	const struct profile *p = c->names->profile;
	unsigned threads = pool_threads();
	AUTO_FREE struct table *tables = mem_alloc(threads * sizeof(*tables));
	struct sum s = { .h = h, .tables = tables };

	*h = (struct hist){ .cells = c, .opts = *o };
	choose_index(h);
	for (unsigned i = 0; i < threads && h->direct; i++) {
		tables[i].direct = h->direct;
		tables[i].slot = mem_alloc(h->direct_cap * sizeof(*tables[i].slot));
	}
	pool_run((p->entries.n + STEP - 1) / STEP, threads, sum_job, &s);
	for (unsigned t = 1; t < threads; t++)
		table_add(&tables[0], &tables[t]);
	memcpy(&h->rows, &tables[0].rows, sizeof(h->rows));
	h->count = tables[0].count;
	h->weight = tables[0].weight;
	h->all_count = p->total[o->type].all_count - tables[0].left_count;
	h->all_weight = p->total[o->type].all_weight - tables[0].left_weight;
	free(tables[0].slot);
	hide_rows(h);
	hist_order(h);
	index_rows(h);
}

/* Pairs of h's rows, anew after rows were added or moved. */
static void pair_rows(struct hist *h)
{
	free(h->pair);
	h->pair = mem_alloc((h->rows.n * h->n_members + 1) * sizeof(*h->pair));
	for (size_t i = 0; i < h->rows.n; i++)
		for (unsigned m = 0; m < h->n_members; m++)
			h->pair[i * h->n_members + m] = find_row(&h->member[m], h->rows.data[i].at);
}

/* Rows of nothing for what only the other events have. */
static void add_dummies(struct hist *h)
{
	struct map seen = { 0 };

	for (unsigned m = 0; m < h->n_members; m++)
		vec_each (&h->member[m].rows, r) {
			struct hist_row dummy = { .at = r->at,
						  .site = r->site,
						  .tid = r->tid,
						  .first = r->first,
						  .hidden = r->hidden,
						  .dummy = true };
			uint64_t *at = map_at(&seen, (uint64_t)r->at.entry << 32 | r->at.site);

			if (*at || find_row(h, r->at) != HIST_NO_ROW)
				continue;
			*at = 1;
			vec_push(&h->rows, dummy);
		}
	map_free(&seen);
}

void hist_group(struct hist *h, struct hist *others, unsigned n, unsigned sort_member)
{
	h->member = mem_dup(others, n * sizeof(*others));
	h->n_members = n;
	h->sort_member = sort_member <= n ? sort_member : 0;
	add_dummies(h);
	pair_rows(h);
	hist_order(h);
	index_rows(h);
	pair_rows(h);
}

void hist_free(struct hist *h)
{
	for (unsigned m = 0; m < h->n_members; m++)
		hist_free(&h->member[m]);
	free(h->member);
	free(h->pair);
	vec_free(&h->rows);
	free(h->slot);
}

uint64_t hist_sum(const struct hist *h, const struct hist_row *r, enum key key)
{
	(void)h;
	switch (key) {
	case KEY_CHILDREN: return r->total;
	case KEY_OVERHEAD_SYS: return r->by_mode[0];
	case KEY_OVERHEAD_US: return r->by_mode[1];
	case KEY_OVERHEAD_GUEST_SYS: return r->by_mode[2];
	case KEY_OVERHEAD_GUEST_US: return r->by_mode[3];
	case KEY_SAMPLES: return r->count;
	default: return r->self;
	}
}

void hist_walk_init(struct hist_walk *w, const struct hist *h, const bool *classes)
{
	*w = (struct hist_walk){ .h = h,
				 .classes = classes,
				 .stamp = mem_alloc((h->rows.n + 1) * sizeof(*w->stamp)) };
}

void hist_walk_free(struct hist_walk *w)
{
	free(w->stamp);
}

void hist_walk(struct hist_walk *w, size_t i, hist_walk_fn *fn, void *ctx)
{
	const struct hist *h = w->h;
	const struct cells *c = h->cells;
	const struct names *n = c->names;
	const struct profile_entry *e = &n->profile->entries.data[i];
	struct cell_pair at = hist_pair_of(h, i);
	const struct name_chain *chain;
	uint32_t row;

	if (!hist_counts(h, i))
		return;
	w->now++;
	if (!w->classes || w->classes[at.site]) {
		row = find_row(h, at);
		fn(ctx, row, -1);
		w->stamp[row] = w->now;
	}
	if (!h->opts.children || e->chain == PROFILE_NO_CHAIN)
		return;
	chain = &n->chains[e->chain];
	for (uint32_t k = 0; k < chain->n; k++) {
		uint32_t from = h->opts.caller ? chain->n - 1 - k : k;

		at.site = c->site_class[n->chain_sites[chain->first + from]];
		if (w->classes && !w->classes[at.site])
			continue;
		row = find_row(h, at);
		if (w->stamp[row] == w->now)
			continue;
		w->stamp[row] = w->now;
		fn(ctx, row, from);
	}
}
