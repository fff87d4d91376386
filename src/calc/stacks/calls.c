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

static uint32_t calls_frame_of(const struct calls *c, const struct ref *r)
{
	return c->n->sites.data[c->n->chain_sites[r->at]].frame;
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
		f = calls_frame_of(c, r);
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
				&c->nodes.data[c->group_of[calls_frame_of(c, &r)] - 1];

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
