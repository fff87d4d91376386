/* SPDX-License-Identifier: MIT */
/*
 * Call trees that grow where one looks: a node's children are found when it is
 * opened, so that the largest recording costs nothing but what is shown.
 *
 * A tree is made of references into chains, each at the function that comes
 * next. Outwards the tree shows callers, inwards what was called.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "calc/profile/names.h"

#define CALLS_ROOT 0u
#define CALLS_NONE UINT32_MAX

struct calls_node {
	uint32_t frame; /* CALLS_NONE: the root */
	uint32_t parent;
	uint32_t depth;		    /* of the root: 0 */
	uint64_t weight, count;	    /* of everything through here */
	uint64_t self;		    /* of chains that end here; known once it is open */
	bool open;		    /* children were found */
	uint32_t child, n_children; /* they stand side by side, heaviest first */
	/* inner workings */
	size_t first, n;
};

struct calls;

struct calls *calls_new(const struct names *n, bool inwards);
void calls_free(struct calls *c); /* NULL is fine */

/*
 * Add an entry's chain, from the frame `at` on (counted from the innermost);
 * -1: all of it. Only before the root is opened.
 */
void calls_add(struct calls *c, size_t entry, int64_t at);

/* Finds the children. Pointers to nodes hold until the next call. */
const struct calls_node *calls_open(struct calls *c, uint32_t node);
const struct calls_node *calls_get(const struct calls *c, uint32_t node);

/*
 * Functions and who calls whom, over all samples of one event: what the views in the manner of
 * Sysprof and OProfile are made of.
 */
struct function {
	uint32_t frame;
	uint64_t self, total; /* weight of samples in it; in it or below it, each once */
	uint64_t count;	      /* samples in it */
};
typedef VEC(struct function) functions_list;

/* Every function of a sample or a chain, by total (heaviest first) or by self. */
void functions_make(const struct names *n, uint32_t type, functions_list *ret);
void functions_by_self(functions_list *l);

/*
 * Who called it (self: nothing, total: of the samples it was called for), and
 * what it called; each sample once a function. CALLS_NONE as a caller: nobody did.
 */
void functions_around(const struct names *n, uint32_t type, uint32_t frame, bool callees,
		      functions_list *ret);

/* The tree of what it called, from its outermost call in each chain; or of its callers. */
struct calls *functions_tree(const struct names *n, uint32_t type, uint32_t frame, bool inwards);
