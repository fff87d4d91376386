/* SPDX-License-Identifier: MIT */
#include "calc/stacks/prefix_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A path that is kept; its weight stands in front of the functions when it is not the common one.
 */
struct path {
	uint32_t next;		/* + 1; in which store, and where */
	uint8_t n, at;		/* functions, and those that were followed already */
	bool more : 1, own : 1; /* it goes on behind them; it has a weight of its own */
	uint8_t count;		/* paths that are the same */
};

_Static_assert(sizeof(struct path) == 8, "two words");
_Static_assert(PREFIX_TREE_TAIL + 2 <= UINT8_MAX, "n and at are bytes");

#define WORDS (sizeof(struct path) / sizeof(uint32_t))
#define STORE_SHIFT 28 /* of a number of a path: which store; the rest is where in it */
#define STORE_MASK ((1u << STORE_SHIFT) - 1)

_Static_assert(PREFIX_TREE_STORES <= UINT32_MAX >> STORE_SHIFT, "stores fit in a number");

static inline struct path *path_of(const struct prefix_tree *b, uint32_t number)
{
	number--;
	return (struct path *)&b->store[number >> STORE_SHIFT].word.data[number & STORE_MASK];
}

static inline uint32_t *funcs_of(struct path *p)
{
	return (uint32_t *)p + WORDS + (p->own ? 2 : 0);
}

static uint64_t weight_of(const struct prefix_tree *b, uint32_t number)
{
	const struct path *p = path_of(b, number);
	uint64_t w = b->store[(number - 1) >> STORE_SHIFT].common;

	if (p->own)
		memcpy(&w, (const uint32_t *)p + WORDS, sizeof(w));
	return w * p->count;
}

static struct prefix_tree_slot *stacks_prefix_tree_slot_of(const struct prefix_tree *b,
							   uint32_t parent, uint32_t func)
{
	uint64_t key = prefix_tree_key(parent, func);

	return prefix_tree_slot_of(b, key, prefix_tree_hash(key));
}

static void prefix_tree_grow(struct prefix_tree *b)
{
	free(b->slot);
	b->cap = b->cap ? b->cap * 2 : 4096;
	b->shift = 64 - (unsigned)__builtin_ctzll(b->cap);
	b->slot = mem_table(b->cap * sizeof(*b->slot), true);
	for (uint32_t i = 1; i < b->nodes.n; i++) {
		const struct prefix_tree_node *n = &b->nodes.data[i];

		*stacks_prefix_tree_slot_of(b, n->parent, n->func) =
			(struct prefix_tree_slot){ prefix_tree_key(n->parent, n->func),
						   { i & PREFIX_TREE_NODES,
						     prefix_tree_state(b, i) } };
	}
}

void prefix_tree_init(struct prefix_tree *b, struct prefix_tree_store *stores, unsigned own,
		      uint32_t most)
{
	*b = (struct prefix_tree){ .store = stores, .own = own, .most = most };
	vec_push(&b->nodes, (struct prefix_tree_node){ .held = PREFIX_TREE_OPEN });
	prefix_tree_grow(b);
}

void prefix_tree_free(struct prefix_tree *b)
{
	vec_free(&b->nodes);
	free(b->slot);
	b->slot = NULL;
	b->cap = 0;
}

const struct prefix_tree_slot *prefix_tree_new_child(struct prefix_tree *b, uint64_t key)
{
	struct prefix_tree_at at = { b->nodes.n & PREFIX_TREE_NODES, PREFIX_TREE_CLOSED };
	uint32_t parent = (uint32_t)((key - 1) >> 32), func = (uint32_t)(key - 1);
	struct prefix_tree_slot *slot;

	if (b->nodes.n * 3 >= b->cap * 2)
		prefix_tree_grow(b);
	vec_push(&b->nodes, (struct prefix_tree_node){ .parent = parent, .func = func });
	slot = prefix_tree_slot_of(b, key, prefix_tree_hash(key));
	*slot = (struct prefix_tree_slot){ key, at };
	return slot;
}

static void prefix_tree_hold(struct prefix_tree *b, uint32_t node, uint32_t number, struct path *p)
{
	struct prefix_tree_node *n = &b->nodes.data[node];

	p->next = n->held;
	if (!n->held)
		n->held_last = number;
	n->held = number;
	n->n += p->count;
}

/* Take a path on from a node that is open, to where one is closed or it ends. */
static void pass_on(struct prefix_tree *b, uint32_t node, uint32_t number)
{
	struct path *p = path_of(b, number);
	uint64_t weight = weight_of(b, number);
	struct prefix_tree_node *n;

	while (p->at < p->n && b->nodes.data[node].held == PREFIX_TREE_OPEN)
		node = prefix_tree_child(b, node, funcs_of(p)[p->at++]).node;
	n = &b->nodes.data[node];
	n->count += p->count;
	n->weight += weight;
	if (p->at < p->n || (p->more && n->held != PREFIX_TREE_OPEN))
		prefix_tree_hold(b, node, number, p);
	else if (p->more)
		n->lost += weight;
}

/* What a node that is open by now still holds goes to its children. */
static void let_go(struct prefix_tree *b, uint32_t node, uint32_t number)
{
	while (number) {
		struct path *p = path_of(b, number);
		uint32_t next = p->next;

		b->nodes.data[node].count -= p->count;
		b->nodes.data[node].weight -= weight_of(b, number);
		pass_on(b, node, number);
		number = next;
	}
}

static void open_node(struct prefix_tree *b, uint32_t node)
{
	uint32_t first = b->nodes.data[node].held;

	if (first == PREFIX_TREE_OPEN)
		return;
	b->nodes.data[node].held = PREFIX_TREE_OPEN;
	b->nodes.data[node].n = 0;
	stacks_prefix_tree_slot_of(b, b->nodes.data[node].parent, b->nodes.data[node].func)
		->at.state = PREFIX_TREE_IS_OPEN;
	let_go(b, node, first);
}

/* The path that was kept last is the same: neighbours often are. */
static bool is_again(const struct prefix_tree *b, const struct prefix_tree_node *at,
		     const uint32_t *tail, uint32_t n, bool more, uint64_t weight)
{
	struct path *p = at->held ? path_of(b, at->held) : NULL;

	return p && p->count < UINT8_MAX && p->n - p->at == (int)n && p->more == more &&
	       weight_of(b, at->held) == weight * p->count &&
	       memcmp(funcs_of(p) + p->at, tail, n * sizeof(*tail)) == 0;
}

static void prefix_tree_keep(struct prefix_tree *b, uint32_t node, const uint32_t *tail, uint32_t n,
			     bool more, uint64_t weight)
{
	struct prefix_tree_store *s = &b->store[b->own];
	struct path p = { .n = (uint8_t)n, .more = more, .count = 1, .own = weight != s->common };
	size_t at = s->word.n, size = WORDS + (p.own ? 2 : 0) + n;
	uint32_t number = (b->own << STORE_SHIFT | (uint32_t)at) + 1;

	vec_reserve(&s->word, at + size);
	s->word.n += size;
	b->kept++;
	memcpy(&s->word.data[at], &p, sizeof(p));
	if (p.own)
		memcpy(&s->word.data[at + WORDS], &weight, sizeof(weight));
	memcpy(&s->word.data[at + size - n], tail, n * sizeof(*tail));
	prefix_tree_hold(b, node, number, path_of(b, number));
}

void prefix_tree_add(struct prefix_tree *b, uint32_t node, const uint32_t *tail, uint32_t n,
		     bool more, uint64_t weight)
{
	struct prefix_tree_store *s = &b->store[b->own];
	struct prefix_tree_node *at;

	if (!s->common)
		s->common = weight;
	/* it may have opened since it was found */
	for (; n && b->nodes.data[node].held == PREFIX_TREE_OPEN; n--)
		node = prefix_tree_child(b, node, *tail++).node;
	at = &b->nodes.data[node];
	at->count++;
	at->weight += weight;
	if (at->held == PREFIX_TREE_OPEN && more)
		at->lost += weight;
	if (prefix_tree_state(b, node) != PREFIX_TREE_CLOSED || (!n && !more))
		return;
	if (!n || s->word.n + PREFIX_TREE_TAIL + 4 > STORE_MASK) {
		at->lost += weight; /* nothing is known of it, and one that opens loses it */
	} else if (b->last == node && is_again(b, at, tail, n, more, weight)) {
		path_of(b, at->held)->count++;
		at->n++;
	} else {
		prefix_tree_keep(b, node, tail, n, more, weight);
	}
	b->last = node;
	if (b->nodes.data[node].n > b->most)
		open_node(b, node);
}

void prefix_tree_merge(struct prefix_tree *b, struct prefix_tree *other)
{
	AUTO_FREE uint32_t *to = mem_alloc((other->nodes.n + 1) * sizeof(*to));

	for (uint32_t i = 0; i < other->nodes.n; i++) {
		const struct prefix_tree_node *o = &other->nodes.data[i];
		uint32_t number = o->held == PREFIX_TREE_OPEN ? 0 : o->held;
		struct prefix_tree_node *n;

		to[i] = i ? prefix_tree_child(b, to[o->parent], o->func).node : PREFIX_TREE_ROOT;
		if (o->held == PREFIX_TREE_OPEN)
			open_node(b, to[i]);
		n = &b->nodes.data[to[i]];
		n->count += o->count;
		n->weight += o->weight;
		n->lost += o->lost;
		if (n->held == PREFIX_TREE_OPEN) {
			let_go(b, to[i], number);
			continue;
		}
		if (!number)
			continue;
		if (!n->held)
			n->held_last = o->held_last;
		path_of(b, o->held_last)->next = n->held;
		n->held = number;
		n->n += o->n;
	}
	prefix_tree_free(other);
}

void prefix_tree_settle(struct prefix_tree *b, double least)
{
	for (uint32_t i = 0; i < b->nodes.n; i++)
		if (b->nodes.data[i].held != PREFIX_TREE_OPEN &&
		    (double)b->nodes.data[i].weight >= least)
			open_node(b, i);
}

uint64_t *prefix_tree_totals(const struct prefix_tree *b)
{
	uint64_t *total = mem_alloc((b->nodes.n + 1) * sizeof(*total));

	for (size_t i = b->nodes.n; i-- > 0;) {
		total[i] += b->nodes.data[i].weight;
		if (i)
			total[b->nodes.data[i].parent] += total[i];
	}
	return total;
}

bool prefix_tree_lost(const struct prefix_tree *b, double least)
{
	AUTO_FREE uint64_t *total = prefix_tree_totals(b);

	for (size_t i = b->nodes.n; i-- > 0;) {
		const struct prefix_tree_node *n = &b->nodes.data[i];
		uint64_t lost = i ? b->nodes.data[n->parent].lost : 0;

		/* all of it may be a child's that is there, or one's that is not */
		if ((lost && (double)(total[i] + lost) >= least) ||
		    (n->held == PREFIX_TREE_OPEN && n->lost && (double)n->lost >= least))
			return true;
	}
	return false;
}

void prefix_tree_clear(struct prefix_tree *b)
{
	vec_each (&b->nodes, n) {
		n->held = n->held == PREFIX_TREE_OPEN ? PREFIX_TREE_OPEN : 0;
		n->n = n->n == PREFIX_TREE_SMALL ? PREFIX_TREE_SMALL : 0;
		n->count = n->weight = n->lost = 0;
	}
	b->store[b->own].word.n = 0;
	b->store[b->own].common = 0;
	b->kept = 0;
}

void prefix_tree_mark_small(struct prefix_tree *b, double least)
{
	AUTO_FREE uint64_t *total = prefix_tree_totals(b);
	AUTO_FREE uint64_t *lost = mem_alloc(b->nodes.n * sizeof(*lost));

	for (size_t i = 1; i < b->nodes.n; i++) {
		struct prefix_tree_node *n = &b->nodes.data[i];

		lost[i] = lost[n->parent] + b->nodes.data[n->parent].lost;
		if (n->held != PREFIX_TREE_OPEN && (double)(total[i] + lost[i]) < least) {
			n->n = PREFIX_TREE_SMALL;
			stacks_prefix_tree_slot_of(b, n->parent, n->func)->at.state =
				PREFIX_TREE_IS_SMALL;
		}
	}
}

void prefix_tree_copy(struct prefix_tree *b, const struct prefix_tree *from)
{
	prefix_tree_free(b);
	b->cap = from->cap;
	b->shift = from->shift;
	b->slot = mem_dup(from->slot, from->cap * sizeof(*from->slot));
	vec_reserve(&b->nodes, from->nodes.n);
	memcpy(b->nodes.data, from->nodes.data, from->nodes.n * sizeof(*b->nodes.data));
	b->nodes.n = from->nodes.n;
	prefix_tree_clear(b);
}

void prefix_tree_cut(struct prefix_tree *b, double least)
{
	AUTO_FREE uint64_t *total = prefix_tree_totals(b);

	for (size_t i = b->nodes.n; i-- > 1;) {
		struct prefix_tree_node *n = &b->nodes.data[i], *up = &b->nodes.data[n->parent];

		if ((double)total[i] >= least)
			continue;
		up->count += n->count;
		up->weight += n->weight;
		n->count = n->weight = 0;
	}
}
