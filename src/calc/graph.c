/* SPDX-License-Identifier: MIT */
#include "calc/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A row's samples are references into chains. A tree is made from them top
 * down: references are grouped by their next function, groups that are too light are
 * dropped before anyone looks at what lies behind them, and the rest is grouped again.
 * So the work is about what is shown, not about all that was recorded.
 */
struct ref {
	uint32_t entry;
	uint32_t at; /* next position in walking order */
};

#define BATCH 8000000u /* references that are held at a time: 64 MB */

struct graph_work {
	const struct hist *h;
	const struct graph_opts *o;
	struct graphs *out;
	uint64_t *n_refs; /* by row */
	uint64_t *first;  /* by row, in refs */
	size_t lo, hi;	  /* rows of this batch */
	struct ref *refs, *tmp;
	uint32_t entry; /* being walked */
	/* grouping: by frame, number of references and weight at this level */
	uint64_t *seen;
	uint32_t *group_at;
};

/* The k-th function of a reference's chain in walking order, or UINT32_MAX at its end. */
static uint32_t frame_at(const struct graph_work *w, const struct ref *r)
{
	const struct names *n = w->h->names;
	const struct profile_entry *e = &n->profile->entries.data[r->entry];
	uint64_t first = n->chain_first[e->chain];
	uint64_t len = n->chain_first[e->chain + 1] - first;

	if (r->at >= len)
		return UINT32_MAX;
	return n->sites.data[n->chain_sites[first + (w->o->caller ? len - 1 - r->at : r->at)]]
		.frame;
}

static uint64_t weight_of(const struct graph_work *w, const struct ref *r)
{
	return w->h->names->profile->entries.data[r->entry].weight;
}

struct group {
	uint32_t frame;
	uint64_t weight, count;
	size_t first, n;
};

static int heavier(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Sort refs[lo, lo + n) by their next function; the groups, heaviest first. Ends of chains are left
 * out. */
static struct group *group_refs(struct graph_work *w, size_t lo, size_t n, size_t *n_groups)
{
	VEC(struct group) g = { 0 };
	size_t at = lo;

	for (size_t i = lo; i < lo + n; i++) {
		uint32_t f = frame_at(w, &w->refs[i]);

		if (f == UINT32_MAX)
			continue;
		if (!w->seen[f]) {
			w->group_at[f] = (uint32_t)g.n;
			vec_push(&g, (struct group){ .frame = f });
		}
		w->seen[f]++;
		g.data[w->group_at[f]].n++;
		g.data[w->group_at[f]].weight += weight_of(w, &w->refs[i]);
		g.data[w->group_at[f]].count +=
			w->h->names->profile->entries.data[w->refs[i].entry].count;
	}
	for (size_t k = 0; k < g.n; k++) {
		g.data[k].first = at;
		at += g.data[k].n;
		g.data[k].n = 0;
	}
	for (size_t i = lo; i < lo + n; i++) {
		uint32_t f = frame_at(w, &w->refs[i]);

		if (f != UINT32_MAX) {
			struct group *to = &g.data[w->group_at[f]];

			w->tmp[to->first + to->n++] = w->refs[i];
		}
	}
	memcpy(w->refs + lo, w->tmp + lo, (at - lo) * sizeof(*w->refs));
	for (size_t k = 0; k < g.n; k++)
		w->seen[g.data[k].frame] = 0;
	if (g.n)
		qsort(g.data, g.n, sizeof(*g.data), heavier);
	*n_groups = g.n;
	return g.data;
}

static uint64_t limit_for(const struct graph_work *w, uint64_t parent)
{
	double share = w->o->min_percent / 100;

	return w->o->mode == GRAPH_FRACTAL ? (uint64_t)ceil((double)parent * share)
					   : (uint64_t)((double)w->h->total * share);
}

#define MAX_DEPTH 2048

static struct graph_node *children(struct graph_work *w, size_t lo, size_t n, uint64_t parent,
				   unsigned depth, uint64_t *below);

/* The node of a group: follow it while it does not branch. */
static struct graph_node *node_of(struct graph_work *w, const struct group *g, unsigned depth)
{
	struct graph_node *node = arena_alloc(&w->out->arena, sizeof(*node));
	VEC(uint32_t) frames = { 0 };
	size_t lo = g->first, n = g->n;

	node->weight = g->weight;
	node->count = g->count;
	vec_push(&frames, g->frame);
	for (size_t i = lo; i < lo + n; i++)
		w->refs[i].at++;
	for (;;) {
		uint32_t f = frame_at(w, &w->refs[lo]);
		bool same = f != UINT32_MAX;

		for (size_t i = lo + 1; same && i < lo + n; i++)
			same = frame_at(w, &w->refs[i]) == f;
		if (!same)
			break;
		vec_push(&frames, f);
		for (size_t i = lo; i < lo + n; i++)
			w->refs[i].at++;
	}
	node->frame = arena_dup(&w->out->arena, frames.data, frames.n * sizeof(*frames.data));
	node->n_frames = (uint32_t)frames.n;
	vec_free(&frames);
	if (depth < MAX_DEPTH)
		node->child = children(w, lo, n, node->weight, depth + 1, &node->below);
	return node;
}

static struct graph_node *children(struct graph_work *w, size_t lo, size_t n, uint64_t parent,
				   unsigned depth, uint64_t *below)
{
	struct graph_node *first = NULL, **tail = &first;
	size_t n_groups;
	struct group *g = group_refs(w, lo, n, &n_groups);
	uint64_t all = 0, limit;

	for (size_t k = 0; k < n_groups; k++)
		all += g[k].weight;
	if (below)
		*below = all;
	limit = limit_for(w, w->o->mode == GRAPH_FRACTAL && below ? all : parent);
	for (size_t k = 0; k < n_groups; k++) {
		if (g[k].weight < limit || !g[k].weight)
			continue;
		*tail = node_of(w, &g[k], depth);
		tail = &(*tail)->next;
	}
	free(g);
	return first;
}

/* Will anything of this row's graph be shown at all? */
static bool wanted(const struct graph_work *w, size_t row)
{
	const struct hist_row *r = &w->h->rows.data[row];
	uint64_t weight = w->h->opts.children ? r->total : r->self;

	return weight && weight >= limit_for(w, weight);
}

static void count_ref(void *ctx, uint32_t row, int64_t at)
{
	struct graph_work *w = ctx;

	(void)at;
	w->n_refs[row]++;
}

static void add_ref(void *ctx, uint32_t row, int64_t at)
{
	struct graph_work *w = ctx;
	const struct names *n = w->h->names;
	uint32_t chain = n->profile->entries.data[w->entry].chain;
	uint64_t len = n->chain_first[chain + 1] - n->chain_first[chain];

	if (row < w->lo || row >= w->hi || !wanted(w, row))
		return;
	/* its own samples show the whole chain, those on the way what lies below (or above) */
	w->refs[w->first[row]++] = (struct ref){
		.entry = w->entry,
		.at = at < 0 ? 0 : (uint32_t)(w->o->caller ? len - 1 - (uint64_t)at : (uint64_t)at),
	};
}

static void walk_all(struct graph_work *w, hist_walk_fn *fn)
{
	const struct profile *p = w->h->names->profile;
	struct hist_walk walk;

	hist_walk_init(&walk, w->h);
	for (size_t i = 0; i < p->entries.n; i++) {
		if (p->entries.data[i].chain == PROFILE_NO_CHAIN)
			continue;
		w->entry = (uint32_t)i;
		hist_walk(&walk, i, fn, w);
	}
	hist_walk_free(&walk);
}

/* As many rows from lo on as fit, and their trees. Returns the first row not done. */
static size_t do_batch(struct graph_work *w, size_t lo)
{
	uint64_t n = 0;

	w->lo = w->hi = lo;
	while (w->hi < w->h->rows.n) {
		uint64_t more = wanted(w, w->hi) ? w->n_refs[w->hi] : 0;

		if (n && n + more > BATCH)
			break;
		w->first[w->hi] = n;
		n += more;
		w->hi++;
	}
	if (!n)
		return w->hi;
	w->refs = mem_alloc(n * sizeof(*w->refs));
	w->tmp = mem_alloc(n * sizeof(*w->tmp));
	walk_all(w, add_ref);
	for (size_t row = w->lo; row < w->hi; row++) {
		const struct hist_row *r = &w->h->rows.data[row];
		uint64_t count = wanted(w, row) ? w->n_refs[row] : 0;

		if (count)
			w->out->root[row] =
				children(w, w->first[row] - count, count,
					 w->h->opts.children ? r->total : r->self, 0, NULL);
	}
	free(w->refs);
	free(w->tmp);
	return w->hi;
}

void graphs_make(const struct hist *h, const struct graph_opts *o, struct graphs *ret)
{
	size_t rows = h->rows.n, frames = h->names->frames.n;
	struct graph_work w = { .h = h, .o = o, .out = ret };

	*ret = (struct graphs){ .n = rows, .root = mem_alloc((rows + 1) * sizeof(*ret->root)) };
	w.n_refs = mem_alloc((rows + 1) * sizeof(*w.n_refs));
	w.first = mem_alloc((rows + 1) * sizeof(*w.first));
	w.seen = mem_alloc((frames + 1) * sizeof(*w.seen));
	w.group_at = mem_alloc((frames + 1) * sizeof(*w.group_at));
	walk_all(&w, count_ref);
	for (size_t row = 0; row < rows;)
		row = do_batch(&w, row);
	free(w.n_refs);
	free(w.first);
	free(w.seen);
	free(w.group_at);
}

void graphs_free(struct graphs *g)
{
	free(g->root);
	arena_free(&g->arena);
}
