/* SPDX-License-Identifier: MIT */
/* A tree that opens where many paths go: sums stay the same, whatever is opened when. */
#include "calc/stacks/prefix_tree.h"

#include <stdlib.h>

#include "tap.h"

#define MOST 4

static struct prefix_tree_store store[PREFIX_TREE_STORES];

/* Put a path of n functions in, keeping at most tail of those that are not followed. */
static void put(struct prefix_tree *b, const uint32_t *func, uint32_t n, uint32_t tail,
		uint64_t weight)
{
	struct prefix_tree_at at = { PREFIX_TREE_ROOT, PREFIX_TREE_IS_OPEN };
	uint32_t i = 0, rest;

	for (; i < n && at.state == PREFIX_TREE_IS_OPEN; i++)
		at = prefix_tree_child(b, at.node, func[i]);
	rest = n - i < tail ? n - i : tail;
	prefix_tree_add(b, at.node, func + i, rest, rest < n - i, weight);
}

static uint32_t node_of(struct prefix_tree *b, const uint32_t *func, uint32_t n)
{
	uint32_t node = PREFIX_TREE_ROOT;

	for (uint32_t i = 0; i < n; i++)
		node = prefix_tree_child(b, node, func[i]).node;
	return node;
}

static uint64_t total_of(struct prefix_tree *b, const uint32_t *func, uint32_t n)
{
	uint32_t node = node_of(b, func, n);
	uint64_t *total = prefix_tree_totals(b), all = total[node];

	free(total);
	return all;
}

static const uint32_t path[] = { 1, 2, 3, 4, 5 }, other[] = { 1, 2, 7, 8, 9 };

static void nothing(void)
{
	struct prefix_tree b;

	prefix_tree_init(&b, store, 0, MOST);
	prefix_tree_settle(&b, 0);
	CHECK(!prefix_tree_lost(&b, 0)); /* or who reads again until nothing is would never end */
	prefix_tree_free(&b);
}

static void opens(void)
{
	struct prefix_tree b;

	prefix_tree_init(&b, store, 0, MOST);
	for (int i = 0; i < MOST; i++)
		put(&b, path, 5, PREFIX_TREE_TAIL, 10);
	CHECK(b.nodes.n == 2); /* the root, and one that keeps them */
	put(&b, other, 5, PREFIX_TREE_TAIL, 3);
	CHECK(total_of(&b, path, 1) == 43);
	CHECK(total_of(&b, path, 2) == 43);
	CHECK(!prefix_tree_lost(&b, 1));
	prefix_tree_settle(&b, 3);
	CHECK(total_of(&b, path, 3) == 40);
	CHECK(total_of(&b, other, 3) == 3);
	CHECK(total_of(&b, path, 5) == 40);
	CHECK(total_of(&b, other, 5) == 3);
	prefix_tree_cut(&b, 4);
	CHECK(b.nodes.data[node_of(&b, other, 3)].weight == 0);
	CHECK(b.nodes.data[node_of(&b, other, 2)].weight == 3);
	prefix_tree_clear(&b);
	CHECK(total_of(&b, path, 0) == 0);
	CHECK(prefix_tree_child(&b, PREFIX_TREE_ROOT, 1).state == PREFIX_TREE_IS_OPEN);
	prefix_tree_free(&b);
}

/* What is kept of a path is too short: said where it matters, and right the next time. */
static void loses(void)
{
	struct prefix_tree b;

	prefix_tree_init(&b, store, 0, MOST);
	for (int i = 0; i < 2 * MOST; i++)
		put(&b, path, 5, 1, 1);
	prefix_tree_settle(&b, 5);
	CHECK(total_of(&b, path, 1) == 2 * MOST);
	CHECK(prefix_tree_lost(&b, 5));
	CHECK(!prefix_tree_lost(&b, 100));
	for (int k = 0; k < 5 && prefix_tree_lost(&b, 5); k++) {
		prefix_tree_mark_small(&b, 5);
		prefix_tree_clear(&b);
		for (int i = 0; i < 2 * MOST; i++)
			put(&b, path, 5, 1, 1);
		prefix_tree_settle(&b, 5);
	}
	CHECK(!prefix_tree_lost(&b, 5));
	CHECK(total_of(&b, path, 5) == 2 * MOST);
	prefix_tree_free(&b);
}

/* Nothing at all is kept where a node will be small for certain. */
static void small(void)
{
	struct prefix_tree b;

	prefix_tree_init(&b, store, 0, 100);
	put(&b, path, 5, 2, 1);
	prefix_tree_mark_small(&b, 10);
	prefix_tree_clear(&b);
	CHECK(prefix_tree_child(&b, PREFIX_TREE_ROOT, 1).state == PREFIX_TREE_IS_SMALL);
	put(&b, path, 5, 2, 1);
	CHECK(store[0].word.n == 0);
	CHECK(total_of(&b, path, 1) == 1);
	prefix_tree_free(&b);
}

/* Two trees, open in different places, with weights of their own. */
static void merges(unsigned n_a, unsigned n_b)
{
	struct prefix_tree a, b;

	store[0].word.n = store[1].word.n = 0;
	store[0].common = store[1].common = 0;
	prefix_tree_init(&a, store, 0, MOST);
	prefix_tree_init(&b, store, 1, MOST);
	for (unsigned i = 0; i < n_a; i++)
		put(&a, i % 3 ? path : other, 5, PREFIX_TREE_TAIL, 2 + i % 2);
	for (unsigned i = 0; i < n_b; i++)
		put(&b, i % 2 ? path : other, 4, PREFIX_TREE_TAIL, 100);
	prefix_tree_merge(&a, &b);
	prefix_tree_settle(&a, 1);
	CHECK(total_of(&a, path, 4) + total_of(&a, other, 4) == n_a * 2 + n_a / 2 + n_b * 100);
	CHECK(total_of(&a, other, 4) - total_of(&a, other, 5) == (n_b + 1) / 2 * 100);
	CHECK(!prefix_tree_lost(&a, 1));
	prefix_tree_free(&a);
}

int main(void)
{
	nothing();
	opens();
	loses();
	small();
	merges(3, 3);
	merges(50, 3);
	merges(3, 50);
	merges(40, 40);
	merges(0, 7);
	for (size_t i = 0; i < PREFIX_TREE_STORES; i++)
		vec_free(&store[i].word);
	return tap_end();
}
