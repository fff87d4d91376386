/* SPDX-License-Identifier: MIT */
/* A tree that opens where many paths go: sums stay the same, whatever is opened when. */
#include "calc/burst.h"

#include <stdlib.h>

#include "tap.h"

#define MOST 4

static struct burst_store store[BURST_STORES];

/* Put a path of n functions in, keeping at most tail of those that are not followed. */
static void put(struct burst *b, const uint32_t *func, uint32_t n, uint32_t tail, uint64_t weight)
{
	struct burst_at at = { BURST_ROOT, BURST_IS_OPEN };
	uint32_t i = 0, rest;

	for (; i < n && at.state == BURST_IS_OPEN; i++)
		at = burst_child(b, at.node, func[i]);
	rest = n - i < tail ? n - i : tail;
	burst_add(b, at.node, func + i, rest, rest < n - i, weight);
}

static uint32_t node_of(struct burst *b, const uint32_t *func, uint32_t n)
{
	uint32_t node = BURST_ROOT;

	for (uint32_t i = 0; i < n; i++)
		node = burst_child(b, node, func[i]).node;
	return node;
}

static uint64_t total_of(struct burst *b, const uint32_t *func, uint32_t n)
{
	uint32_t node = node_of(b, func, n);
	uint64_t *total = burst_totals(b), all = total[node];

	free(total);
	return all;
}

static const uint32_t path[] = { 1, 2, 3, 4, 5 }, other[] = { 1, 2, 7, 8, 9 };

static void nothing(void)
{
	struct burst b;

	burst_init(&b, store, 0, MOST);
	burst_settle(&b, 0);
	CHECK(!burst_lost(&b, 0)); /* or who reads again until nothing is would never end */
	burst_free(&b);
}

static void opens(void)
{
	struct burst b;

	burst_init(&b, store, 0, MOST);
	for (int i = 0; i < MOST; i++)
		put(&b, path, 5, BURST_TAIL, 10);
	CHECK(b.nodes.n == 2); /* the root, and one that keeps them */
	put(&b, other, 5, BURST_TAIL, 3);
	CHECK(total_of(&b, path, 1) == 43);
	CHECK(total_of(&b, path, 2) == 43);
	CHECK(!burst_lost(&b, 1));
	burst_settle(&b, 3);
	CHECK(total_of(&b, path, 3) == 40);
	CHECK(total_of(&b, other, 3) == 3);
	CHECK(total_of(&b, path, 5) == 40);
	CHECK(total_of(&b, other, 5) == 3);
	burst_cut(&b, 4);
	CHECK(b.nodes.data[node_of(&b, other, 3)].weight == 0);
	CHECK(b.nodes.data[node_of(&b, other, 2)].weight == 3);
	burst_clear(&b);
	CHECK(total_of(&b, path, 0) == 0);
	CHECK(burst_child(&b, BURST_ROOT, 1).state == BURST_IS_OPEN);
	burst_free(&b);
}

/* A function that calls itself: the way on is known without a look into the table. */
static void again(void)
{
	static const uint32_t same[] = { 1, 2, 2, 2, 2 };
	struct burst b, copy;
	uint32_t at;

	burst_init(&b, store, 0, MOST);
	burst_init(&copy, store, 1, MOST);
	for (int i = 0; i < 2 * MOST; i++)
		put(&b, same, 4, BURST_TAIL, 1);
	burst_settle(&b, 1);
	at = node_of(&b, same, 2);
	CHECK(burst_again(&b, BURST_ROOT) == BURST_ROOT);
	CHECK(burst_again(&b, node_of(&b, same, 1)) == BURST_ROOT);
	CHECK(burst_again(&b, at) == node_of(&b, same, 3));
	CHECK(burst_again(&b, node_of(&b, same, 3)) == node_of(&b, same, 4));
	CHECK(burst_again(&b, node_of(&b, same, 4)) == BURST_ROOT);
	node_of(&b, same, 5);
	CHECK(burst_again(&b, node_of(&b, same, 4)) == BURST_ROOT); /* it is closed */
	burst_copy(&copy, &b);
	CHECK(burst_again(&copy, at) == burst_again(&b, at));
	burst_free(&copy);
	burst_free(&b);
}

/* What is kept of a path is too short: said where it matters, and right the next time. */
static void loses(void)
{
	struct burst b;

	burst_init(&b, store, 0, MOST);
	for (int i = 0; i < 2 * MOST; i++)
		put(&b, path, 5, 1, 1);
	burst_settle(&b, 5);
	CHECK(total_of(&b, path, 1) == 2 * MOST);
	CHECK(burst_lost(&b, 5));
	CHECK(!burst_lost(&b, 100));
	for (int k = 0; k < 5 && burst_lost(&b, 5); k++) {
		burst_mark_small(&b, 5);
		burst_clear(&b);
		for (int i = 0; i < 2 * MOST; i++)
			put(&b, path, 5, 1, 1);
		burst_settle(&b, 5);
	}
	CHECK(!burst_lost(&b, 5));
	CHECK(total_of(&b, path, 5) == 2 * MOST);
	burst_free(&b);
}

/* Nothing at all is kept where a node will be small for certain. */
static void small(void)
{
	struct burst b;

	burst_init(&b, store, 0, 100);
	put(&b, path, 5, 2, 1);
	burst_mark_small(&b, 10);
	burst_clear(&b);
	CHECK(burst_child(&b, BURST_ROOT, 1).state == BURST_IS_SMALL);
	put(&b, path, 5, 2, 1);
	CHECK(store[0].word.n == 0);
	CHECK(total_of(&b, path, 1) == 1);
	burst_free(&b);
}

/* Two trees, open in different places, with weights of their own. */
static void merges(unsigned n_a, unsigned n_b)
{
	struct burst a, b;

	store[0].word.n = store[1].word.n = 0;
	store[0].common = store[1].common = 0;
	burst_init(&a, store, 0, MOST);
	burst_init(&b, store, 1, MOST);
	for (unsigned i = 0; i < n_a; i++)
		put(&a, i % 3 ? path : other, 5, BURST_TAIL, 2 + i % 2);
	for (unsigned i = 0; i < n_b; i++)
		put(&b, i % 2 ? path : other, 4, BURST_TAIL, 100);
	burst_merge(&a, &b);
	burst_settle(&a, 1);
	CHECK(total_of(&a, path, 4) + total_of(&a, other, 4) == n_a * 2 + n_a / 2 + n_b * 100);
	CHECK(total_of(&a, other, 4) - total_of(&a, other, 5) == (n_b + 1) / 2 * 100);
	CHECK(!burst_lost(&a, 1));
	burst_free(&a);
}

int main(void)
{
	nothing();
	opens();
	again();
	loses();
	small();
	merges(3, 3);
	merges(50, 3);
	merges(3, 50);
	merges(40, 40);
	merges(0, 7);
	for (size_t i = 0; i < BURST_STORES; i++)
		vec_free(&store[i].word);
	return tap_end();
}
