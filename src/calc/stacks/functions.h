/* SPDX-License-Identifier: MIT */
/*
 * Functions and who calls whom, over all samples of one event: what the views in
 * the manner of Sysprof and OProfile are made of.
 */
#ifndef KYMO_CALC_STACKS_FUNCTIONS_H
#define KYMO_CALC_STACKS_FUNCTIONS_H

#include <stdint.h>

#include "base/vec.h"
#include "calc/profile/names.h"
#include "calc/stacks/calls.h"

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
void functions_callers(const struct names *n, uint32_t type, uint32_t frame, functions_list *ret);
void functions_callees(const struct names *n, uint32_t type, uint32_t frame, functions_list *ret);

/* The tree of what it called, from its outermost call in each chain; or of its callers. */
struct calls *functions_tree(const struct names *n, uint32_t type, uint32_t frame, bool inwards);

#endif
