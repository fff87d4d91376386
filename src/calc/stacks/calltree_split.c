/* SPDX-License-Identifier: MIT */
/*
 * The tree, from the root down: a node is a range of items that agree in their
 * first functions; it is split by the next one. Ranges wait on a stack, the
 * first child on top, which makes the nodes come out in pre-order.
 */
#include <stdlib.h>
#include <string.h>

#include "calc/stacks/calltree_impl.h"

/* Items order[lo..hi) have the first `depth` functions in common, the last being func. */
struct range {
	uint32_t lo, hi;
	uint32_t depth, func, parent;
	int64_t start[2], total[2];
	bool leaf; /* all items end here, whatever their length */
};

struct group {
	uint32_t func;
	uint32_t lo, n; /* of order */
	int64_t start[2], total[2];
	bool small;
	bool deeper; /* an item goes on below it */
};

struct split {
	struct calltree_build *b;
	uint32_t *order, *spare;
	uint32_t *keys;	    /* the next function of order[i], or ENDED */
	uint32_t *group_of; /* function -> group + 1 of the range being split, or 0 */
	VEC(struct group) groups;
	VEC(struct range) work;
	VEC(uint32_t) lanes; /* timed: of the root's children, as they came */
};
#define ENDED UINT32_MAX

static uint32_t path_length(const struct calltree_item *it)
{
	return it->n + (it->label != CALLTREE_NO_LABEL);
}

static uint32_t path_at(const struct calltree_build *b, const struct calltree_item *it,
			uint32_t depth)
{
	uint32_t f;

	if (b->o->reverse)
		depth = path_length(it) - 1 - depth;
	if (it->label != CALLTREE_NO_LABEL && depth-- == 0)
		return it->label;
	f = it->frame[depth];
	return b->func_of[it->side] ? b->func_of[it->side][f] : f;
}

/* Of its side's whole; the larger one of a comparison. */
static double calltree_split_share(const struct calltree_build *b, const int64_t total[2])
{
	double s[2];

	for (int i = 0; i < 2; i++)
		s[i] = b->sum[i] ? (double)total[i] / (double)b->sum[i] : 0;
	return s[0] > s[1] ? s[0] : s[1];
}

static bool is_small(const struct calltree_build *b, const int64_t total[2])
{
	double part = calltree_split_share(b, total);

	return part <= 0 || part < b->o->min_share;
}

static int by_rank(const void *x, const void *y, void *ctx)
{
	const struct group *a = x, *b = y;
	const struct calltree_build *build = ctx;
	const uint32_t *rank = build->rank;

	if (build->o->keep_pruned && a->small != b->small)
		return a->small ? 1 : -1;
	return (rank[a->func] > rank[b->func]) - (rank[a->func] < rank[b->func]);
}

static int by_size(const void *x, const void *y, void *ctx)
{
	const struct group *a = x, *b = y;
	const struct calltree_build *build = ctx;
	double sa = calltree_split_share(build, a->total),
	       sb = calltree_split_share(build, b->total);

	if (sa == sb || (build->o->keep_pruned && a->small != b->small))
		return by_rank(x, y, ctx);
	return sa < sb ? 1 : -1;
}

/* Items of a range lie anywhere: they are asked for some before their turn. */
#define AHEAD 16
static inline const struct calltree_item *calltree_split_fetch(const struct split *s,
							       const struct range *r, uint32_t i)
{
	if (i + AHEAD < r->hi)
		mem_fetch(&s->b->items.data[s->order[i + AHEAD]]);
	return i + AHEAD / 2 < r->hi ? &s->b->items.data[s->order[i + AHEAD / 2]] : NULL;
}

/* Find the next function of each item; those that end here are the node's own. */
static void find_keys(struct split *s, const struct range *r, uint32_t node)
{
	struct calltree_build *b = s->b;

	for (uint32_t i = r->lo; i < r->hi; i++) {
		struct calltree_item *it = &b->items.data[s->order[i]];
		const struct calltree_item *next = calltree_split_fetch(s, r, i);

		if (next && next->n > r->depth)
			mem_fetch(next->frame + r->depth);
		it->node = node; /* until a child takes it */
		if (path_length(it) > r->depth) {
			s->keys[i] = path_at(b, it, r->depth);
		} else {
			s->keys[i] = ENDED;
			b->t->nodes.data[node].self[it->side] += it->weight;
		}
	}
}

/*
 * In time, a function goes on while its thread does. A process or thread is there as long as
 * anything of it was seen.
 */
static void group_times(struct split *s, const struct range *r)
{
	const struct chart *c = &s->b->chart;
	const struct chart_piece *last = NULL;
	uint32_t last_key = ENDED;

	for (uint32_t i = r->lo; i < r->hi; i++) {
		const struct calltree_item *it = &s->b->items.data[s->order[i]];
		const struct chart_piece *p = &c->pieces.data[s->order[i]];
		bool label = r->depth == 0 && it->label != CALLTREE_NO_LABEL;
		uint32_t key = s->keys[i];
		struct group *g;

		if (key != ENDED) {
			if (!last || key != last_key || p->thread != last->thread ||
			    (p->from > last->to && !label)) {
				g = vec_add(&s->groups);
				g->func = key;
				g->lo = i;
				g->start[0] = (int64_t)(p->from - c->from);
			}
			g = &s->groups.data[s->groups.n - 1];
			g->n++;
			g->total[0] = (int64_t)(p->to - c->from) - g->start[0];
		}
		last_key = key;
		last = p;
	}
	vec_each (&s->groups, g)
		g->small = is_small(s->b, g->total);
}

/* Every lane's rows begin above those of the one before. */
static void stack_lanes(struct split *s)
{
	struct calltree *t = s->b->t;
	AUTO_FREE uint32_t *rows = mem_alloc((s->b->chart.lanes + 1) * sizeof(*rows));
	uint32_t child = 0, base = 0;

	for (uint32_t i = 1; i < t->nodes.n; i++) {
		uint32_t *deepest;

		child += t->nodes.data[i].depth == 1;
		deepest = &rows[s->lanes.data[child - 1]];
		*deepest = t->nodes.data[i].depth > *deepest ? t->nodes.data[i].depth : *deepest;
	}
	for (uint32_t i = 0; i < s->b->chart.lanes; i++) {
		uint32_t n = rows[i];

		rows[i] = base;
		base += n;
	}
	child = 0;
	for (uint32_t i = 1; i < t->nodes.n; i++) {
		child += t->nodes.data[i].depth == 1;
		t->nodes.data[i].depth += rows[s->lanes.data[child - 1]];
	}
	t->depth = base;
}

/* Without times, runs of the same function are the groups, and gaps stay where they are. */
static void group_runs(struct split *s, const struct range *r)
{
	int64_t at[2] = { r->start[0], r->start[1] };
	uint32_t last = ENDED;

	for (uint32_t i = r->lo; i < r->hi; i++) {
		const struct calltree_item *it = &s->b->items.data[s->order[i]];
		uint32_t key = s->keys[i];

		if (key != ENDED) {
			struct group *g;

			if (key != last) {
				g = vec_add(&s->groups);
				g->func = key;
				g->lo = i;
				memcpy(g->start, at, sizeof(at));
			}
			g = &s->groups.data[s->groups.n - 1];
			g->n++;
			g->total[it->side] += it->weight;
		}
		last = key;
		at[it->side] += it->weight;
	}
	vec_each (&s->groups, g)
		g->small = is_small(s->b, g->total);
}

/* Otherwise all items of the same function are one group, and are brought together. */
static void group_functions(struct split *s, const struct range *r, const int64_t self[2])
{
	struct calltree_build *b = s->b;
	int64_t at[2] = { r->start[0] + self[0], r->start[1] + self[1] };
	uint32_t ended = r->lo, lo = ended;

	for (uint32_t i = r->lo; i < r->hi; i++) {
		const struct calltree_item *it = &b->items.data[s->order[i]];
		uint32_t key = s->keys[i];
		struct group *g;

		calltree_split_fetch(s, r, i);
		if (key == ENDED) {
			lo++;
			continue;
		}
		if (!s->group_of[key]) {
			g = vec_add(&s->groups);
			g->func = key;
			s->group_of[key] = (uint32_t)s->groups.n;
		}
		g = &s->groups.data[s->group_of[key] - 1];
		g->n++;
		g->total[it->side] += it->weight;
		g->deeper = g->deeper || path_length(it) > r->depth + 1;
	}
	vec_each (&s->groups, g)
		g->small = is_small(b, g->total) && (g->deeper || !b->o->keep_leaves ||
						     calltree_split_share(b, g->total) <= 0);
	if (s->groups.n > 1)
		qsort_r(s->groups.data, s->groups.n, sizeof(*s->groups.data),
			b->o->sort == CALLTREE_BY_SIZE ? by_size : by_rank, b);
	vec_each (&s->groups, g) {
		s->group_of[g->func] = (uint32_t)(g - s->groups.data) + 1;
		memcpy(g->start, at, sizeof(at));
		g->lo = lo;
		lo += g->n;
		for (int i = 0; i < 2; i++)
			at[i] += g->total[i];
		g->n = 0;
	}
	for (uint32_t i = r->lo; i < r->hi; i++) {
		struct group *g =
			s->keys[i] == ENDED ? NULL : &s->groups.data[s->group_of[s->keys[i]] - 1];

		s->spare[g ? g->lo + g->n++ : ended++] = s->order[i];
	}
	memcpy(s->order + r->lo, s->spare + r->lo, (r->hi - r->lo) * sizeof(*s->order));
	vec_each (&s->groups, g)
		s->group_of[g->func] = 0;
}

/*
 * Small groups leave no nodes. In a picture their place stays empty; where
 * nothing may get lost they stand last, and become one node.
 */
static void prune(struct split *s, const struct range *r, uint32_t node)
{
	struct calltree *t = s->b->t;
	struct range rest = { .func = CALLTREE_PRUNED, .parent = node, .depth = r->depth + 1 };

	vec_each (&s->groups, g) {
		if (!g->small || calltree_split_share(s->b, g->total) <= 0)
			continue;
		if (!rest.hi) {
			rest.lo = g->lo;
			memcpy(rest.start, g->start, sizeof(rest.start));
		}
		rest.hi = g->lo + g->n;
		t->pruned_stacks += g->n;
		for (int k = 0; k < 2; k++) {
			rest.total[k] += g->total[k];
			t->pruned_weight[k] += g->total[k];
		}
	}
	if (s->b->o->keep_pruned && s->b->o->sort != CALLTREE_BY_TIME && rest.hi)
		vec_push(&s->work, rest);
}

static uint32_t add_node(struct calltree *t, const struct range *r)
{
	struct calltree_node *n = vec_add(&t->nodes);

	n->func = r->func;
	n->parent = r->parent;
	n->depth = r->depth;
	memcpy(n->total, r->total, sizeof(n->total));
	memcpy(n->start, r->start, sizeof(n->start));
	if (r->depth > t->depth)
		t->depth = r->depth;
	return (uint32_t)t->nodes.n - 1;
}

/* The groups wait on the stack, the first on top. */
static void push_groups(struct split *s, const struct range *r, uint32_t node, bool leaves)
{
	for (size_t i = s->groups.n; i-- > 0;) {
		const struct group *g = &s->groups.data[i];
		struct range child = { .lo = g->lo,
				       .hi = g->lo + g->n,
				       .depth = r->depth + 1,
				       .func = g->func,
				       .parent = node,
				       .leaf = leaves };

		if (g->small && !leaves)
			continue;
		memcpy(child.start, g->start, sizeof(child.start));
		memcpy(child.total, g->total, sizeof(child.total));
		vec_push(&s->work, child);
	}
}

/* What is pruned: nothing below it, or the innermost functions. */
static void split_pruned(struct split *s, const struct range *r, uint32_t node)
{
	static const int64_t none[2] = { 0, 0 };
	struct calltree_build *b = s->b;

	for (uint32_t i = r->lo; i < r->hi; i++) {
		struct calltree_item *it = &b->items.data[s->order[i]];

		it->node = node;
		s->keys[i] = path_at(b, it, path_length(it) - 1);
	}
	if (r->leaf || !b->o->keep_leaves) {
		memcpy(b->t->nodes.data[node].self, r->total, sizeof(r->total));
		return;
	}
	s->groups.n = 0;
	group_functions(s, r, none);
	push_groups(s, r, node, true);
}

static void split_range(struct split *s, const struct range *r)
{
	uint32_t node = add_node(s->b->t, r);

	if (r->func == CALLTREE_PRUNED || r->leaf) {
		split_pruned(s, r, node);
		return;
	}
	s->groups.n = 0;
	if (r->depth == 1 && s->b->t->timed) {
		const struct chart *c = &s->b->chart;

		vec_push(&s->lanes, c->threads.data[c->pieces.data[s->order[r->lo]].thread].lane);
	}
	find_keys(s, r, node);
	if (s->b->t->timed)
		group_times(s, r);
	else if (s->b->o->sort == CALLTREE_BY_TIME)
		group_runs(s, r);
	else
		group_functions(s, r, s->b->t->nodes.data[node].self);
	prune(s, r, node);
	push_groups(s, r, node, false);
}

void calltree_split(struct calltree_build *b)
{
	size_t n = b->items.n;
	struct split s = { .b = b };
	struct range root = { .hi = (uint32_t)n,
			      .func = CALLTREE_ROOT,
			      .total = { b->sum[0], b->sum[1] } };
	struct calltree_node *node = NULL;

	s.order = mem_alloc(n * sizeof(*s.order));
	s.spare = mem_alloc(n * sizeof(*s.spare));
	s.keys = mem_alloc(n * sizeof(*s.keys));
	s.group_of = mem_alloc(b->t->funcs.n * sizeof(*s.group_of));
	for (size_t i = 0; i < n; i++)
		s.order[i] = (uint32_t)i;
	vec_push(&s.work, root);
	while (s.work.n && !b->t->too_many) {
		struct range r = s.work.data[--s.work.n];

		split_range(&s, &r);
		b->t->too_many = b->o->max_nodes && b->t->nodes.n > b->o->max_nodes;
	}
	node = b->t->nodes.data;
	for (size_t i = b->t->nodes.n; i-- > 0;) {
		if (node[i].end <= i)
			node[i].end = (uint32_t)i + 1;
		if (node[node[i].parent].end < node[i].end)
			node[node[i].parent].end = node[i].end;
	}
	if (b->t->timed)
		stack_lanes(&s);
	vec_free(&s.lanes);
	free(s.order);
	free(s.spare);
	free(s.keys);
	free(s.group_of);
	vec_free(&s.groups);
	vec_free(&s.work);
}
