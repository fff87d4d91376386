/* SPDX-License-Identifier: MIT */
#include "calc/stacks/calls.h"

#include <stdlib.h>
#include <string.h>

struct ref {
	uint64_t at;   /* in names->chain_sites: the next function */
	uint32_t left; /* how many are left, this one included */
	uint32_t entry;
};

struct calls {
	const struct names *n;
	int step; /* +1 outwards, -1 inwards */
	VEC(struct calls_node) nodes;
	VEC(struct ref) refs; /* a node's lie side by side; opening it orders them by child */
	struct ref *tmp;
	uint32_t *group_of; /* by frame: child + 1 while a node is being opened */
};

/* The function of a place in names->chain_sites. */
static uint32_t frame_at(const struct names *n, uint64_t at)
{
	return n->sites.data[n->chain_sites[at]].frame;
}

struct calls *calls_new(const struct names *n, bool inwards)
{
	struct calls *c = mem_alloc(sizeof(*c));

	c->n = n;
	c->step = inwards ? -1 : 1;
	c->group_of = mem_alloc((n->frames.n + 1) * sizeof(*c->group_of));
	vec_push(&c->nodes, (struct calls_node){ .frame = CALLS_NONE, .parent = CALLS_NONE });
	return c;
}

void calls_free(struct calls *c)
{
	if (!c)
		return;
	vec_free(&c->nodes);
	vec_free(&c->refs);
	free(c->tmp);
	free(c->group_of);
	free(c);
}

void calls_add(struct calls *c, size_t entry, int64_t at)
{
	const struct profile_entry *e = &c->n->profile->entries.data[entry];
	struct calls_node *root = &c->nodes.data[CALLS_ROOT];
	struct ref r = { .entry = (uint32_t)entry };

	root->weight += e->weight;
	root->count += e->count;
	if (e->chain != PROFILE_NO_CHAIN) {
		uint64_t first = c->n->chains[e->chain].first;
		uint64_t end = first + c->n->chains[e->chain].n;

		if (c->step < 0) {
			r.at = at < 0 ? end - 1 : first + (uint64_t)at;
			r.left = first == end ? 0 : (uint32_t)(r.at - first + 1);
		} else {
			r.at = at < 0 ? first : first + (uint64_t)at;
			r.left = (uint32_t)(end - r.at);
		}
	}
	vec_push(&c->refs, r);
	root->n++;
}

static int calls_heavier(const void *a, const void *b)
{
	const struct calls_node *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Children by their next functions, with sums; ends of chains are the node's own. */
static void count_children(struct calls *c, uint32_t node)
{
	uint32_t child = (uint32_t)c->nodes.n;
	struct calls_node of = c->nodes.data[node];

	for (size_t i = of.first; i < of.first + of.n; i++) {
		const struct ref *r = &c->refs.data[i];
		const struct profile_entry *e = &c->n->profile->entries.data[r->entry];
		struct calls_node *to;
		uint32_t f;

		if (!r->left) {
			of.self += e->weight;
			continue;
		}
		f = frame_at(c->n, r->at);
		if (!c->group_of[f]) {
			vec_push(&c->nodes, (struct calls_node){ .frame = f,
								 .parent = node,
								 .depth = of.depth + 1 });
			c->group_of[f] = (uint32_t)c->nodes.n;
		}
		to = &c->nodes.data[c->group_of[f] - 1];
		to->weight += e->weight;
		to->count += e->count;
		to->n++;
	}
	of.child = child;
	of.n_children = (uint32_t)c->nodes.n - child;
	of.open = true;
	c->nodes.data[node] = of;
	for (uint32_t k = child; k < c->nodes.n; k++)
		c->group_of[c->nodes.data[k].frame] = 0;
}

/* Put the references in the order of the children, one step further. */
static void hand_down(struct calls *c, const struct calls_node *of)
{
	size_t at = of->first, ends;
	struct ref *refs = c->refs.data;

	for (uint32_t k = of->child; k < of->child + of->n_children; k++) {
		struct calls_node *n = &c->nodes.data[k];

		n->first = at;
		at += n->n;
		n->n = 0;
		c->group_of[n->frame] = k + 1;
	}
	ends = at;
	c->tmp = mem_grow(c->tmp, (of->n + 1) * sizeof(*c->tmp));
	memcpy(c->tmp, refs + of->first, of->n * sizeof(*c->tmp));
	for (size_t i = 0; i < of->n; i++) {
		struct ref r = c->tmp[i];

		if (r.left) {
			struct calls_node *n =
				&c->nodes.data[c->group_of[frame_at(c->n, r.at)] - 1];

			r.at += (uint64_t)(int64_t)c->step;
			r.left--;
			refs[n->first + n->n++] = r;
		} else {
			refs[ends++] = r;
		}
	}
	for (uint32_t k = of->child; k < of->child + of->n_children; k++)
		c->group_of[c->nodes.data[k].frame] = 0;
}

const struct calls_node *calls_open(struct calls *c, uint32_t node)
{
	struct calls_node of;

	if (c->nodes.data[node].open)
		return &c->nodes.data[node];
	count_children(c, node);
	of = c->nodes.data[node];
	if (of.n_children > 1)
		qsort(&c->nodes.data[of.child], of.n_children, sizeof(of), calls_heavier);
	hand_down(c, &of);
	return &c->nodes.data[node];
}

const struct calls_node *calls_get(const struct calls *c, uint32_t node)
{
	return &c->nodes.data[node];
}

/* --- functions --- */

/* Sums by frame; a stamp tells whether an entry was counted for it already. */
struct sums {
	const struct names *n;
	struct function *by_frame; /* one more at the end: nobody */
	uint32_t *stamp;
	uint32_t now;
};

static struct sums sums_new(const struct names *n)
{
	struct sums s = { .n = n };

	s.by_frame = mem_alloc((n->frames.n + 1) * sizeof(*s.by_frame));
	s.stamp = mem_alloc((n->frames.n + 1) * sizeof(*s.stamp));
	return s;
}

static void count_for(struct sums *s, size_t frame, const struct profile_entry *e)
{
	if (s->stamp[frame] == s->now)
		return;
	s->stamp[frame] = s->now;
	s->by_frame[frame].total += e->weight;
}

static int by_total(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->self != y->self ? x->self < y->self ? 1 : -1 : by_total(a, b);
}

static void sums_finish(struct sums *s, functions_list *ret)
{
	for (size_t i = 0; i <= s->n->frames.n; i++) {
		struct function f = s->by_frame[i];

		if (!f.total)
			continue;
		f.frame = i < s->n->frames.n ? (uint32_t)i : CALLS_NONE;
		vec_push(ret, f);
	}
	free(s->by_frame);
	free(s->stamp);
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), by_total);
}

void functions_by_self(functions_list *l)
{
	if (l->n)
		qsort(l->data, l->n, sizeof(*l->data), by_self);
}

void functions_make(const struct names *n, uint32_t type, functions_list *ret)
{
	const struct profile *p = n->profile;
	struct sums s = sums_new(n);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint32_t own = n->sites.data[n->entry_site[i]].frame;

		if (e->type != type)
			continue;
		s.now++;
		s.by_frame[own].self += e->weight;
		s.by_frame[own].count += e->count;
		count_for(&s, own, e);
		if (e->chain == PROFILE_NO_CHAIN)
			continue;
		for (uint32_t k = 0; k < n->chains[e->chain].n; k++)
			count_for(&s, frame_at(n, n->chains[e->chain].first + k), e);
	}
	sums_finish(&s, ret);
}

/* Neighbours of every place where it stands in a chain: one step outwards or callees. */
void functions_around(const struct names *n, uint32_t type, uint32_t frame, bool callees,
		      functions_list *ret)
{
	const struct profile *p = n->profile;
	struct sums s = sums_new(n);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint64_t first, end;

		if (e->type != type || e->chain == PROFILE_NO_CHAIN)
			continue;
		s.now++;
		first = n->chains[e->chain].first;
		end = first + n->chains[e->chain].n;
		for (uint64_t k = first; k < end; k++) {
			if (frame_at(n, k) != frame)
				continue;
			if (callees && k > first)
				count_for(&s, frame_at(n, k - 1), e);
			else if (!callees)
				count_for(&s, k + 1 < end ? frame_at(n, k + 1) : n->frames.n, e);
		}
	}
	sums_finish(&s, ret);
}

struct calls *functions_tree(const struct names *n, uint32_t type, uint32_t frame, bool inwards)
{
	const struct profile *p = n->profile;
	struct calls *c = calls_new(n, inwards);

	for (size_t i = 0; i < p->entries.n; i++) {
		const struct profile_entry *e = &p->entries.data[i];
		uint64_t first, end, k;

		if (e->type != type || e->chain == PROFILE_NO_CHAIN)
			continue;
		first = n->chains[e->chain].first;
		end = first + n->chains[e->chain].n;
		/* inwards from its outermost call, outwards from its innermost one */
		if (inwards) {
			for (k = end; k > first && frame_at(n, k - 1) != frame; k--)
				;
			if (k > first)
				calls_add(c, i, (int64_t)(k - 1 - first));
		} else {
			for (k = first; k < end && frame_at(n, k) != frame; k++)
				;
			if (k < end)
				calls_add(c, i, (int64_t)(k - first));
		}
	}
	return c;
}
