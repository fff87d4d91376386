/* SPDX-License-Identifier: MIT */
/* Call trees that grow on demand, and functions with their callers, over chains made by hand. */
#include "calc/stacks/calls.h"

#include "tap.h"

/* Functions are letters; a chain is written as "abc", a called b, b called c; site = frame. */
#define FRAMES 26
#define CHAINS 8

static struct profile profile;
static struct names names;

static void chain(const char *text, uint64_t weight, uint32_t type)
{
	size_t n = strlen(text);
	uint64_t at = names.chains[profile.chains.n].first;
	struct profile_entry e = {
		.type = type, .chain = (uint32_t)profile.chains.n, .count = 1, .weight = weight
	};

	for (size_t i = 0; i < n; i++) /* innermost first */
		names.chain_sites[at + i] = (uint32_t)(text[n - 1 - i] - 'a');
	names.entry_site[profile.entries.n] = (uint32_t)(text[n - 1] - 'a');
	names.chains[profile.chains.n].n = (uint32_t)n;
	vec_push(&profile.chains, (struct profile_chain){ .n = (uint32_t)n });
	names.chains[profile.chains.n].first = at + n;
	vec_push(&profile.entries, e);
}

static void without_chain(char frame, uint64_t weight)
{
	names.entry_site[profile.entries.n] = (uint32_t)(frame - 'a');
	vec_push(&profile.entries,
		 (struct profile_entry){ .chain = PROFILE_NO_CHAIN, .count = 1, .weight = weight });
}

static void make(void)
{
	names.profile = &profile;
	names.chains = mem_alloc((CHAINS + 1) * sizeof(*names.chains));
	names.chain_sites = mem_alloc(256 * sizeof(uint32_t));
	names.entry_site = mem_alloc(64 * sizeof(uint32_t));
	for (uint32_t i = 0; i < FRAMES; i++) {
		vec_push(&names.frames, (struct name_frame){ .name = SYMBOLS_NONE, .addr = i });
		vec_push(&names.sites, (struct name_site){ .frame = i });
	}
	chain("abc", 10, 0);
	chain("abd", 5, 0);
	chain("ab", 2, 0);
	chain("ef", 3, 0);
	chain("ababc", 20, 0); /* recursion */
	chain("abc", 1000, 1); /* another event */
	without_chain('c', 7);
}

static const struct function *find(const functions_list *l, char f)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->data[i].frame == (f ? (uint32_t)(f - 'a') : CALLS_NONE))
			return &l->data[i];
	return NULL;
}

static void sums(void)
{
	functions_list l = { 0 };

	functions_make(&names, 0, &l);
	CHECK_INT(l.n, 6);
	CHECK_INT(find(&l, 'a')->total, 37); /* each sample once, also where it recurs */
	CHECK_INT(find(&l, 'a')->self, 0);
	CHECK_INT(find(&l, 'b')->total, 37);
	CHECK_INT(find(&l, 'b')->self, 2);
	CHECK_INT(find(&l, 'c')->total, 37); /* with the one without a chain */
	CHECK_INT(find(&l, 'c')->self, 37);
	CHECK_INT(find(&l, 'c')->count, 3);
	CHECK_INT(find(&l, 'f')->self, 3);
	CHECK_INT(l.data[0].total, 37);
	CHECK_INT(l.data[l.n - 1].total, 3);
	functions_by_self(&l);
	CHECK_INT(l.data[0].frame, 'c' - 'a');
	CHECK_INT(l.data[1].frame, 'd' - 'a');
	vec_free(&l);
}

static void neighbours(void)
{
	functions_list l = { 0 };

	functions_around(&names, 0, 'b' - 'a', false, &l);
	CHECK_INT(l.n, 1);
	CHECK_INT(find(&l, 'a')->total, 37);
	l.n = 0;
	functions_around(&names, 0, 'a' - 'a', false, &l);
	CHECK_INT(l.n, 2);
	CHECK_INT(find(&l, 'b')->total, 20);
	CHECK_INT(find(&l, 0)->total, 37); /* nobody: it began the chains */
	l.n = 0;
	functions_around(&names, 0, 'b' - 'a', true, &l);
	CHECK_INT(l.n, 3);
	CHECK_INT(find(&l, 'c')->total, 30);
	CHECK_INT(find(&l, 'd')->total, 5);
	CHECK_INT(find(&l, 'a')->total, 20);
	l.n = 0;
	functions_around(&names, 0, 'z' - 'a', true, &l);
	CHECK_INT(l.n, 0);
	vec_free(&l);
}

/* The child of a node that is a letter; opens the node. */
static uint32_t child(struct calls *c, uint32_t node, char f)
{
	struct calls_node n = *calls_open(c, node);

	for (uint32_t k = n.child; k < n.child + n.n_children; k++)
		if (calls_get(c, k)->frame == (uint32_t)(f - 'a'))
			return k;
	return CALLS_NONE;
}

static void descendants(void)
{
	struct calls *c = functions_tree(&names, 0, 'b' - 'a', true);
	uint32_t b, again;

	CHECK_INT(calls_get(c, CALLS_ROOT)->weight, 37);
	b = child(c, CALLS_ROOT, 'b');
	CHECK(b != CALLS_NONE);
	CHECK_INT(calls_get(c, CALLS_ROOT)->n_children, 1);
	CHECK_INT(calls_get(c, b)->weight, 37);
	/* from its outermost call: the recursion stands below it */
	again = child(c, b, 'a');
	CHECK_INT(calls_get(c, again)->weight, 20);
	CHECK_INT(calls_get(c, child(c, b, 'c'))->weight, 10);
	CHECK_INT(calls_get(c, child(c, b, 'd'))->weight, 5);
	CHECK_INT(calls_get(c, b)->self, 2); /* "ab" ended here */
	CHECK_INT(calls_get(c, b)->n_children, 3);
	/* heaviest first */
	CHECK_INT(calls_get(c, calls_get(c, b)->child)->frame, 0);
	CHECK_INT(calls_get(c, child(c, child(c, again, 'b'), 'c'))->weight, 20);
	CHECK_INT(calls_get(c, child(c, child(c, again, 'b'), 'c'))->depth, 4);
	/* opening again changes nothing */
	CHECK_INT(calls_open(c, b)->n_children, 3);
	calls_free(c);
}

static void callers(void)
{
	struct calls *c = functions_tree(&names, 0, 'c' - 'a', false);
	uint32_t leaf = child(c, CALLS_ROOT, 'c'), b = child(c, leaf, 'b'), a = child(c, b, 'a');

	CHECK_INT(calls_get(c, leaf)->weight, 30); /* the one without a chain has no callers */
	CHECK_INT(calls_get(c, b)->weight, 30);
	CHECK_INT(calls_get(c, a)->weight, 30);
	CHECK_INT(calls_open(c, a)->self, 10);
	CHECK_INT(calls_get(c, child(c, a, 'b'))->weight, 20);
	calls_free(c);

	/* entries added by hand, from a place in their chain on */
	c = calls_new(&names, true);
	calls_add(c, 0, -1); /* all of "abc" */
	calls_add(c, 1, 1);  /* "abd" from b on */
	calls_add(c, 6, -1); /* no chain: only its weight */
	CHECK_INT(calls_get(c, CALLS_ROOT)->weight, 22);
	CHECK_INT(calls_get(c, child(c, CALLS_ROOT, 'a'))->weight, 10);
	CHECK_INT(calls_get(c, child(c, CALLS_ROOT, 'b'))->weight, 5);
	CHECK_INT(calls_open(c, CALLS_ROOT)->self, 7);
	calls_free(c);
	calls_free(NULL);
}

int main(void)
{
	make();
	sums();
	neighbours();
	descendants();
	callers();
	vec_free(&profile.entries);
	vec_free(&profile.chains);
	names_free(&names);
	return tap_end();
}
