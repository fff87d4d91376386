/* SPDX-License-Identifier: MIT */
#include "calc/graph.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "calc/graph_impl.h"

/*
 * A row's samples are references into chains. A tree is made from them top
 * down: references are grouped by their next place, groups that are too light are
 * dropped before anyone looks at what lies behind them, and the rest is grouped again.
 * So the work is about what is shown, not about all that was recorded. Rows are
 * independent, so each CPU takes some.
 */
struct ref {
	uint64_t at;   /* in names->chain_sites: the next place */
	uint32_t left; /* how many are left, this one included */
	uint32_t entry;
};

struct load {
	uint64_t weight, count;
};

#define BATCH 4000000u /* references that are held at a time: 64 MB */
#define MAX_DEPTH 2048
#define AHEAD 16 /* references whose places are fetched in advance */

struct group {
	uint32_t place;
	uint64_t weight, count;
	size_t first, n;
};

/* What one thread needs to group references. */
struct bench {
	struct ref *tmp;
	uint32_t *next; /* places of the references being grouped */
	size_t cap;
	uint32_t *group_of; /* by place: index + 1 into the groups at hand */
	struct arena *arena;
	/* While references are collected. */
	struct hist_walk walk;
	uint64_t *mine; /* by row: the next place of the block that was taken for it */
};

/* References are taken by the block, so that threads do not wait for each other at each one. */
#define BLOCK 32u

struct graph_work {
	const struct hist *h;
	const struct graph_opts *o;
	struct graphs *out;
	struct bench *bench; /* by worker */
	const struct names *names;
	struct load *load;	    /* by entry; small enough to stay in the cache */
	uint64_t *wanted;	    /* by row: how many references it may have */
	atomic_uint_fast64_t *fill; /* by row: where its next references go */
	uint64_t *first;	    /* by row */
	size_t lo, hi;		    /* rows of this batch */
	struct ref *refs;
	size_t refs_cap;
	int step; /* +1 outwards, -1 inwards */
};

static uint32_t place_at(const struct graph_work *w, const struct ref *r)
{
	return r->left ? w->out->place_of[w->names->chain_sites[r->at]] : UINT32_MAX;
}

static void advance(const struct graph_work *w, struct ref *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		r[i].at += (uint64_t)(int64_t)w->step;
		r[i].left--;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static int heavier(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return by_place(a, b);
}

static bool is_flat(const struct graph_opts *o)
{
	return o->mode == GRAPH_FLAT || o->mode == GRAPH_FOLDED;
}

/* The least weight of a branch; all: of the branches beside it. */
static uint64_t limit_for(const struct graph_work *w, uint64_t all)
{
	double share = w->o->min_percent / 100;

	if (w->o->mode == GRAPH_FRACTAL)
		return (uint64_t)ceil((double)all * share);
	return (uint64_t)((double)hist_total(w->h, w->o->relative) * share);
}

struct groups {
	VEC(struct group) g;
	uint64_t weight, count; /* of all, also of those that are left out */
};

static void count_groups(const struct graph_work *w, struct bench *b, const struct ref *refs,
			 size_t n, struct groups *ret)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t f = b->next[i] = place_at(w, &refs[i]);
		const struct load *load = &w->load[refs[i].entry];
		struct group *to;

		if (i + AHEAD < n && refs[i + AHEAD].left) {
			__builtin_prefetch(&w->names->chain_sites[refs[i + AHEAD].at]);
			__builtin_prefetch(&w->load[refs[i + AHEAD].entry]);
		}
		if (f == UINT32_MAX)
			continue;
		if (!b->group_of[f]) {
			vec_push(&ret->g, (struct group){ .place = f });
			b->group_of[f] = (uint32_t)ret->g.n;
		}
		to = &ret->g.data[b->group_of[f] - 1];
		to->n++;
		to->weight += load->weight;
		to->count += load->count;
	}
	vec_each (&ret->g, g) {
		ret->weight += g->weight;
		ret->count += g->count;
	}
}

/*
 * Order refs by their next place, and go on to the one behind it; the groups that are to be shown,
 * heaviest first. What is in no such group is dropped.
 */
static void group_refs(const struct graph_work *w, struct bench *b, struct ref *refs, size_t n,
		       struct groups *ret)
{
	size_t at = 0, kept = 0;
	uint64_t limit;

	count_groups(w, b, refs, n, ret);
	limit = limit_for(w, ret->weight);
	vec_each (&ret->g, g) {
		g->first = at;
		if (g->weight < limit)
			b->group_of[g->place] = 0;
		else
			at += g->n;
	}
	if (ret->g.n == 1 && ret->g.data[0].n == n) {
		advance(w, refs, n);
	} else if (at) {
		vec_each (&ret->g, g)
			g->n = 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t k = b->next[i] == UINT32_MAX ? 0 : b->group_of[b->next[i]];
			struct group *to = &ret->g.data[k ? k - 1 : 0];

			if (k)
				b->tmp[to->first + to->n++] = refs[i];
		}
		advance(w, b->tmp, at);
		memcpy(refs, b->tmp, at * sizeof(*refs));
	}
	for (size_t k = 0; k < ret->g.n; k++) {
		b->group_of[ret->g.data[k].place] = 0;
		if (ret->g.data[k].weight >= limit)
			ret->g.data[kept++] = ret->g.data[k];
	}
	ret->g.n = kept;
	if (kept > 1)
		qsort(ret->g.data, kept, sizeof(*ret->g.data), is_flat(w->o) ? by_place : heavier);
}

static struct graph_node *children(const struct graph_work *w, struct bench *b, struct ref *refs,
				   size_t n, struct graph_node *of, unsigned depth);

/* The node of a group: followed while it does not branch. */
static struct graph_node *node_of(const struct graph_work *w, struct bench *b,
				  const struct group *g, struct ref *refs, unsigned depth)
{
	struct graph_node *node = arena_alloc(b->arena, sizeof(*node));
	VEC(uint32_t) places = { 0 };

	node->weight = g->weight;
	node->count = g->count;
	vec_push(&places, g->place);
	for (;;) {
		uint32_t f = place_at(w, &refs[0]);
		size_t i = 1;

		while (f != UINT32_MAX && i < g->n && place_at(w, &refs[i]) == f)
			i++;
		if (f == UINT32_MAX || i < g->n)
			break;
		vec_push(&places, f);
		advance(w, refs, g->n);
	}
	node->place = arena_dup(b->arena, places.data, places.n * sizeof(*places.data));
	node->n_places = (uint32_t)places.n;
	vec_free(&places);
	if (depth < MAX_DEPTH)
		node->child = children(w, b, refs, g->n, node, depth + 1);
	node->here = node->weight - node->below;
	node->here_count = node->count - node->below_count;
	return node;
}

/* of: the node they hang from, NULL at the root. */
static struct graph_node *children(const struct graph_work *w, struct bench *b, struct ref *refs,
				   size_t n, struct graph_node *of, unsigned depth)
{
	struct graph_node *first = NULL, **tail = &first;
	struct groups groups = { 0 };

	group_refs(w, b, refs, n, &groups);
	if (of) {
		of->below = groups.weight;
		of->below_count = groups.count;
	}
	vec_each (&groups.g, g) {
		*tail = node_of(w, b, g, refs + g->first, depth);
		(*tail)->parent = of;
		tail = &(*tail)->next;
	}
	vec_free(&groups.g);
	return first;
}

/* --- flat: the ends of chains one after the other, the heaviest first --- */

struct ends {
	struct graph_node **v;
	size_t n, cap;
};

static void collect_ends(struct ends *e, struct graph_node *node, uint64_t limit)
{
	for (; node; node = node->next) {
		collect_ends(e, node->child, limit);
		if (node->here && node->here >= limit) {
			if (e->n == e->cap) {
				e->cap = e->cap ? e->cap * 2 : 64;
				e->v = mem_grow(e->v, e->cap * sizeof(*e->v));
			}
			e->v[e->n++] = node;
		}
	}
}

/* Stable, as equal ones stay in the order they were found. */
static void sort_ends(struct graph_node **v, struct graph_node **tmp, size_t n)
{
	size_t half = n / 2, i = 0, k = half, out = 0;

	if (n < 2)
		return;
	sort_ends(v, tmp, half);
	sort_ends(v + half, tmp, n - half);
	while (i < half && k < n)
		tmp[out++] = v[k]->here > v[i]->here ? v[k++] : v[i++];
	while (i < half)
		tmp[out++] = v[i++];
	memcpy(v, tmp, out * sizeof(*v));
}

static struct graph_node *flatten(const struct graph_work *w, struct graph_node *root)
{
	struct ends e = { 0 };
	struct graph_node **tmp;

	collect_ends(&e, root, limit_for(w, 0));
	if (!e.n)
		return NULL;
	tmp = mem_alloc(e.n * sizeof(*tmp));
	sort_ends(e.v, tmp, e.n);
	for (size_t i = 0; i < e.n; i++)
		e.v[i]->next = i + 1 < e.n ? e.v[i + 1] : NULL;
	root = e.v[0];
	free(tmp);
	free(e.v);
	return root;
}

/* How many references a row has, if anything of its graph will be shown at all. */
static uint64_t wanted(const struct graph_work *w, size_t row)
{
	const struct hist_row *r = &w->h->rows.data[row];
	uint64_t weight = hist_weight(w->h, r);

	return !r->hidden && weight >= limit_for(w, weight) ? r->chains : 0;
}

struct adder {
	struct graph_work *w;
	struct bench *b;
	const struct name_chain *chain;
	uint32_t entry;
};

static void add_ref(void *ctx, uint32_t row, int64_t at)
{
	struct adder *a = ctx;
	struct graph_work *w = a->w;
	const struct name_chain *c = a->chain;
	struct ref r = { .entry = a->entry };
	uint64_t *mine = &a->b->mine[row];

	if (row < w->lo || row >= w->hi || !c->n || !w->wanted[row])
		return;
	/* its own samples show the whole chain, those on the way only their part of it */
	if (w->step < 0) {
		r.at = c->first + (at < 0 ? c->n - 1 : (uint64_t)at);
		r.left = (uint32_t)(r.at - c->first + 1);
	} else {
		r.at = c->first + (at < 0 ? 0 : (uint64_t)at);
		r.left = (uint32_t)(c->first + c->n - r.at);
	}
	if (*mine % BLOCK == 0)
		*mine = atomic_fetch_add_explicit(&w->fill[row], BLOCK, memory_order_relaxed);
	w->refs[(*mine)++] = r;
}

#define STEP 4096 /* entries a job */

static int add_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	const struct profile *p = w->names->profile;
	size_t end = (job + 1) * STEP < p->entries.n ? (job + 1) * STEP : p->entries.n;
	struct adder a = { .w = w, .b = &w->bench[worker] };

	for (size_t i = job * STEP; i < end; i++) {
		uint32_t chain = p->entries.data[i].chain;

		if (chain == PROFILE_NO_CHAIN)
			continue;
		a.entry = (uint32_t)i;
		a.chain = &w->names->chains[chain];
		hist_walk(&a.b->walk, i, add_ref, &a);
	}
	return 0;
}

/* What blocks have left over is closed up from the end; how many references there are. */
static uint64_t close_gaps(const struct graph_work *w, size_t row)
{
	uint64_t end = atomic_load(&w->fill[row]);

	for (unsigned i = 0; i < w->out->n_arenas; i++) {
		uint64_t at = w->bench[i].mine[row];

		for (; at % BLOCK; at++)
			w->refs[at].left = 0;
	}
	for (uint64_t at = w->first[row]; at < end; at++)
		while (at < end && !w->refs[at].left)
			w->refs[at] = w->refs[--end];
	return end - w->first[row];
}

static int row_job(void *ctx, size_t job, unsigned worker)
{
	struct graph_work *w = ctx;
	struct bench *b = &w->bench[worker];
	size_t row = w->lo + job;
	uint64_t n = w->wanted[row] ? close_gaps(w, row) : 0;

	if (!n)
		return 0;
	if (b->cap < n) {
		b->cap = n;
		b->tmp = mem_grow(b->tmp, n * sizeof(*b->tmp));
		b->next = mem_grow(b->next, n * sizeof(*b->next));
	}
	for (uint64_t i = 0; w->out->count && i < n; i++)
		w->out->count[row] += w->load[w->refs[w->first[row] + i].entry].count;
	w->out->root[row] = children(w, b, w->refs + w->first[row], n, NULL, 0);
	if (is_flat(w->o))
		w->out->root[row] = flatten(w, w->out->root[row]);
	return 0;
}

/* As many rows from lo on as fit, and their trees. Returns the first row not done. */
static size_t do_batch(struct graph_work *w, size_t lo)
{
	uint64_t n = 0;
	unsigned threads = w->out->n_arenas;

	w->lo = w->hi = lo;
	while (w->hi < w->h->rows.n) {
		uint64_t more = w->wanted[w->hi];

		if (more)
			more = (more + BLOCK - 1) / BLOCK * BLOCK + (uint64_t)threads * BLOCK;
		if (n && n + more > BATCH)
			break;
		w->first[w->hi] = n;
		atomic_init(&w->fill[w->hi], n);
		n += more;
		w->hi++;
	}
	if (!n)
		return w->hi;
	if (w->refs_cap < n) {
		free(w->refs);
		w->refs = mem_table(n * sizeof(*w->refs), false);
		w->refs_cap = n;
	}
	for (unsigned i = 0; i < threads; i++)
		memset(w->bench[i].mine + w->lo, 0, (w->hi - w->lo) * sizeof(uint64_t));
	pool_run((w->names->profile->entries.n + STEP - 1) / STEP, threads, add_job, w);
	pool_run(w->hi - w->lo, threads, row_job, w);
	return w->hi;
}

void graphs_make(const struct hist *h, const struct graph_opts *o, struct graphs *ret)
{
	const struct names *n = h->cells->names;
	size_t rows = h->rows.n;
	struct graph_work w = {
		.h = h, .o = o, .out = ret, .names = n, .step = h->opts.caller ? -1 : 1
	};

	*ret = (struct graphs){
		.cells = h->cells, .opts = *o, .n = rows, .n_arenas = pool_threads()
	};
	places_make(ret, n);
	ret->root = mem_alloc((rows + 1) * sizeof(*ret->root));
	if (o->mode == GRAPH_FRACTAL && o->value == GRAPH_COUNT)
		ret->count = mem_alloc((rows + 1) * sizeof(*ret->count));
	ret->arena = mem_alloc(ret->n_arenas * sizeof(*ret->arena));
	w.bench = mem_alloc(ret->n_arenas * sizeof(*w.bench));
	for (unsigned i = 0; i < ret->n_arenas; i++) {
		w.bench[i].arena = &ret->arena[i];
		w.bench[i].group_of = mem_alloc((ret->n_places + 1) * sizeof(uint32_t));
		w.bench[i].mine = mem_alloc((rows + 1) * sizeof(uint64_t));
		hist_walk_init(&w.bench[i].walk, h);
	}
	w.wanted = mem_alloc((rows + 1) * sizeof(*w.wanted));
	for (size_t i = 0; i < rows; i++)
		w.wanted[i] = wanted(&w, i);
	w.load = mem_alloc((n->profile->entries.n + 1) * sizeof(*w.load));
	for (size_t i = 0; i < n->profile->entries.n; i++)
		w.load[i] = (struct load){ n->profile->entries.data[i].weight,
					   n->profile->entries.data[i].count };
	w.first = mem_alloc((rows + 1) * sizeof(*w.first));
	w.fill = mem_alloc((rows + 1) * sizeof(*w.fill));
	for (size_t row = 0; row < rows;)
		row = do_batch(&w, row);
	for (unsigned i = 0; i < ret->n_arenas; i++) {
		free(w.bench[i].group_of);
		free(w.bench[i].tmp);
		free(w.bench[i].next);
		free(w.bench[i].mine);
		hist_walk_free(&w.bench[i].walk);
	}
	free(w.refs);
	free(w.wanted);
	free(w.bench);
	free(w.load);
	free(w.first);
	free(w.fill);
}

void graphs_free(struct graphs *g)
{
	for (unsigned i = 0; i < g->n_arenas; i++)
		arena_free(&g->arena[i]);
	free(g->arena);
	free(g->root);
	free(g->count);
	free(g->place_of);
	free(g->place_site);
}
