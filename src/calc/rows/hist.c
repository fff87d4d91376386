/* SPDX-License-Identifier: MIT */
#include "calc/rows/hist.h"

#include <stdlib.h>
#include <string.h>

/*
 * Rows are found by their pair of classes: in a plain array where there are few classes, which is
 * nearly always; else by hashing.
 */
#define DIRECT_MAX (1u << 23)

static void index_rows(struct hist *h)
{
	free(h->slot);
	h->slot = h->direct ? mem_alloc(h->direct_cap * sizeof(*h->slot)) : NULL;
	index_free(&h->index);
	for (uint32_t i = 0; i < h->rows.n; i++) {
		struct cell_pair pair = h->rows.data[i].at;
		uint64_t hash = pair_hash(pair);
		size_t at;
		uint32_t k;

		if (h->direct) {
			h->slot[pair.entry * h->direct + pair.site] = i + 1;
			continue;
		}
		at = index_first(&h->index, hash);
		index_each (&h->index, hash, at, k)
			;
		index_set(&h->index, at, hash, i + 1);
	}
}

static inline uint32_t find_row(const struct hist *h, struct cell_pair pair)
{
	uint64_t hash = pair_hash(pair);
	uint32_t k;
	size_t at;

	if (h->direct) {
		k = h->slot[pair.entry * h->direct + pair.site];
		return k ? k - 1 : HIST_NO_ROW;
	}
	if (!h->index.cap)
		return HIST_NO_ROW;
	at = (uint32_t)hash & (h->index.cap - 1);
	index_each (&h->index, hash, at, k)
		if (same_pair(h->rows.data[k - 1].at, pair))
			return k - 1;
	return HIST_NO_ROW;
}

uint32_t hist_find(const struct hist *h, struct cell_pair at)
{
	return find_row(h, at);
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

bool hist_has_modes(const struct hist *h)
{
	const struct columns *c = h->cells->opts.columns;

	for (enum key k = KEY_OVERHEAD_SYS; k <= KEY_OVERHEAD_GUEST_US; k++)
		if (columns_have(c, k))
			return true;
	return false;
}

static void sum_modes(struct hist *h)
{
	const struct profile *p = h->cells->names->profile;

	index_rows(h);
	vec_each (&h->rows, r)
		r->by_mode = arena_alloc(&h->modes, HIST_MODES * sizeof(*r->by_mode));
	for (size_t i = 0; i < p->entries.n; i++) {
		int mode = mode_index(p->entries.data[i].mode);

		if (mode >= 0 && hist_counts(h, i))
			h->rows.data[find_row(h, hist_pair_of(h, i))].by_mode[mode] +=
				p->entries.data[i].weight;
	}
}

static void make_one(struct hist *h, const struct cells *c, const struct hist_opts *o)
{
	unsigned has = c->names->profile->trace->types[o->type].has;

	*h = (struct hist){ .cells = c, .opts = *o };
	h->opts.use_chains = o->use_chains && (has & EVENT_HAVE_CHAIN);
	choose_index(h);
	hist_sum_up(h);
	if (hist_has_modes(h))
		sum_modes(h);
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

void hist_make(struct hist *h, const struct cells *c, const struct hist_opts *o,
	       const uint32_t *leader, unsigned sort_member)
{
	size_t n_types = c->names->profile->trace->n_types;
	struct hist_opts mo = *o;

	make_one(h, c, o);
	h->member = mem_alloc((n_types + 1) * sizeof(*h->member));
	for (mo.type = 0; leader && mo.type < n_types; mo.type++)
		if (mo.type != o->type && leader[mo.type] == o->type)
			make_one(&h->member[h->n_members++], c, &mo);
	if (!h->n_members)
		return;
	h->sort_member = sort_member <= h->n_members ? sort_member : 0;
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
	index_free(&h->index);
	arena_free(&h->modes);
}

uint64_t hist_sum(const struct hist *h, const struct hist_row *r, enum key key)
{
	switch (key) {
	case KEY_CHILDREN: return r->total;
	case KEY_OVERHEAD_SYS: return r->by_mode ? r->by_mode[0] : 0;
	case KEY_OVERHEAD_US: return r->by_mode ? r->by_mode[1] : 0;
	case KEY_OVERHEAD_GUEST_SYS: return r->by_mode ? r->by_mode[2] : 0;
	case KEY_OVERHEAD_GUEST_US: return r->by_mode ? r->by_mode[3] : 0;
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
