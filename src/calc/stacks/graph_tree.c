/* SPDX-License-Identifier: MIT */
/* One row's graph, from its references: grouped, pruned, and grouped again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calc/stacks/graph_impl.h"

#define MAX_DEPTH 2048
#define AHEAD 48 /* references whose places are fetched in advance */

static const struct way *way_of(const struct graph_work *w, const struct ref *r)
{
	const struct ways *t = &w->bench[r->entry].ways;

	return &t->way[r->kind == REF_ROW_WAY ? t->rows.data[r->at].node : r->at];
}

/* The next place, what counts there, and how many references go on behind it. */
static uint32_t graph_tree_look(const struct graph_work *w, const struct ref *r, struct load *load,
				size_t *on)
{
	const struct way *way;
	const struct way_row *row;

	if (r->kind <= REF_AGAIN) {
		const struct profile_entry *e = &w->names->profile->entries.data[r->entry];

		*load = r->kind == REF_CHAIN ? (struct load){ e->weight, e->count }
					     : (struct load){ -e->weight, -e->count };
		*on = r->left > 1;
		return w->out->place_of[w->names->chain_sites[r->at]];
	}
	way = way_of(w, r);
	*load = (struct load){ way->weight, way->count };
	if (r->kind == REF_ROW_WAY) {
		row = &w->bench[r->entry].ways.rows.data[r->at];
		load->weight -= row->own_weight;
		load->count -= row->own_count;
	}
	*on = way->n_children;
	return w->kinds.place[way->kind];
}

/* What goes on behind a reference, to the place it has in its group. */
static size_t go_on(const struct graph_work *w, const struct ref *r, struct ref *to)
{
	const struct way *way;

	if (r->kind <= REF_AGAIN) {
		if (r->left < 2)
			return 0;
		*to = *r;
		to->at += (uint64_t)(int64_t)w->step;
		to->left--;
		return 1;
	}
	way = way_of(w, r);
	for (uint32_t i = 0; i < way->n_children; i++)
		to[i] = (struct ref){
			.at = way->child + i, .kind = REF_WAY, .left = 1, .entry = r->entry
		};
	return way->n_children;
}

static void look_ahead(const struct graph_work *w, const struct ref *r)
{
	if (r->kind > REF_AGAIN) {
		mem_fetch(way_of(w, r));
		return;
	}
	mem_fetch(&w->names->chain_sites[r->at]);
	mem_fetch(&w->names->profile->entries.data[r->entry].weight);
}

static int by_place(const void *a, const void *b, void *graphs)
{
	return places_order(graphs, ((const struct group *)a)->place,
			    ((const struct group *)b)->place);
}

static int graph_tree_heavier(const void *a, const void *b, void *graphs)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return by_place(a, b, graphs);
}

static bool is_flat(const struct graph_opts *o)
{
	return o->mode == GRAPH_FLAT || o->mode == GRAPH_FOLDED;
}

uint64_t graph_limit(const struct graph_work *w, uint64_t all)
{
	double share = w->o->min_percent / 100;

	if (w->o->mode == GRAPH_FRACTAL)
		return (uint64_t)ceil((double)all * share);
	return (uint64_t)((double)hist_total(w->h, w->o->relative) * share);
}

struct groups {
	VEC(struct group) g;
	uint64_t weight, count; /* of all, also of those that are left out */
	size_t all;		/* groups, those left out too */
};

static void count_groups(const struct graph_work *w, struct bench *b, const struct ref *refs,
			 size_t n, struct groups *ret)
{
	for (size_t i = 0; i < n; i++) {
		struct group *to;
		struct load load;
		size_t on;
		uint32_t f = b->next[i] = graph_tree_look(w, &refs[i], &load, &on);

		if (i + AHEAD < n)
			look_ahead(w, &refs[i + AHEAD]);
		if (!b->group_of[f]) {
			vec_push(&ret->g, (struct group){ .place = f });
			b->group_of[f] = (uint32_t)ret->g.n;
		}
		to = &ret->g.data[b->group_of[f] - 1];
		to->n += on;
		to->weight += load.weight;
		to->count += load.count;
	}
	vec_each (&ret->g, g) {
		ret->weight += g->weight;
		ret->count += g->count;
		ret->all += g->count != 0;
	}
}

static void graph_tree_make_room(struct bench *b, size_t n)
{
	if (b->cap >= n)
		return;
	b->cap = n * 2;
	free(b->next);
	b->next = mem_alloc(b->cap * sizeof(*b->next));
}

/*
 * The groups of refs by their next place that are to be shown, heaviest first; what goes on behind
 * them is put on the stack, each group's together. refs NULL: those on the stack from `from` on.
 */
static void group_refs(const struct graph_work *w, struct bench *b, const struct ref *refs,
		       size_t from, size_t n, struct groups *ret)
{
	size_t at = b->stack.n, kept = 0;
	uint64_t limit;

	graph_tree_make_room(b, n);
	count_groups(w, b, refs ? refs : b->stack.data + from, n, ret);
	limit = graph_limit(w, ret->weight);
	vec_each (&ret->g, g) {
		g->first = at;
		if (!g->count || g->weight < limit)
			b->group_of[g->place] = 0;
		else
			at += g->n;
	}
	vec_reserve(&b->stack, at + 1);
	if (!refs)
		refs = b->stack.data + from;
	if (at > b->stack.n) {
		vec_each (&ret->g, g)
			g->n = 0;
		for (size_t i = 0; i < n; i++) {
			uint32_t k = b->group_of[b->next[i]];
			struct group *to = &ret->g.data[k ? k - 1 : 0];

			if (i + AHEAD < n && b->group_of[b->next[i + AHEAD]])
				look_ahead(w, &refs[i + AHEAD]);
			if (k)
				to->n += go_on(w, &refs[i], b->stack.data + to->first + to->n);
		}
	}
	b->stack.n = at;
	for (size_t k = 0; k < ret->g.n; k++) {
		struct group *g = &ret->g.data[k];

		if (g->count && g->weight >= limit)
			ret->g.data[kept++] = *g;
		b->group_of[g->place] = 0;
	}
	ret->g.n = kept;
	if (kept > 1)
		qsort_r(ret->g.data, kept, sizeof(*ret->g.data),
			is_flat(w->o) ? by_place : graph_tree_heavier, w->out);
}

static struct graph_node *children(const struct graph_work *w, struct bench *b,
				   const struct groups *groups, struct graph_node *of,
				   unsigned depth);

/* The node of a group: followed while it does not branch. */
static struct graph_node *node_of(const struct graph_work *w, struct bench *b,
				  const struct group *g, unsigned depth)
{
	struct graph_node *node = arena_alloc(b->arena, sizeof(*node));
	VEC(uint32_t) places = { 0 };
	size_t bottom = b->stack.n, from = g->first, n = g->n;
	struct groups behind;

	node->weight = g->weight;
	node->count = g->count;
	vec_push(&places, g->place);
	for (;;) {
		behind = (struct groups){ 0 };
		group_refs(w, b, NULL, from, n, &behind);
		if (behind.all != 1 || behind.count != node->count || !behind.g.n)
			break;
		vec_push(&places, behind.g.data[0].place);
		n = behind.g.data[0].n;
		/* only the last ones are needed */
		memmove(b->stack.data + bottom, b->stack.data + behind.g.data[0].first,
			n * sizeof(*b->stack.data));
		b->stack.n = bottom + n;
		from = bottom;
		vec_free(&behind.g);
	}
	node->place = arena_dup(b->arena, places.data, places.n * sizeof(*places.data));
	node->n_places = (uint32_t)places.n;
	vec_free(&places);
	node->below = behind.weight;
	node->below_count = behind.count;
	if (depth < MAX_DEPTH)
		node->child = children(w, b, &behind, node, depth + 1);
	vec_free(&behind.g);
	b->stack.n = bottom;
	node->here = node->weight - node->below;
	node->here_count = node->count - node->below_count;
	return node;
}

/* of: the node they hang from, NULL at the root. */
static struct graph_node *children(const struct graph_work *w, struct bench *b,
				   const struct groups *groups, struct graph_node *of,
				   unsigned depth)
{
	struct graph_node *first = NULL, **tail = &first;

	vec_each (&groups->g, g) {
		*tail = node_of(w, b, g, depth);
		(*tail)->parent = of;
		tail = &(*tail)->next;
	}
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

	collect_ends(&e, root, graph_limit(w, 0));
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

struct graph_node *graph_tree(const struct graph_work *w, struct bench *b, const struct ref *refs,
			      size_t n, uint64_t *count)
{
	struct groups groups = { 0 };
	struct graph_node *root;

	group_refs(w, b, refs, 0, n, &groups);
	*count = groups.count;
	root = children(w, b, &groups, NULL, 0);
	b->stack.n = 0;
	vec_free(&groups.g);
	return is_flat(w->o) ? flatten(w, root) : root;
}
