/* SPDX-License-Identifier: MIT */
/* What stacks do not show: names that nobody knew, and callers that could not be followed. */
#ifndef KYMO_CALC_STACKS_GAPS_H
#define KYMO_CALC_STACKS_GAPS_H

#include "calc/stacks.h"

/*
 * What stacks do not show, in samples. A file is the one with the most of them, NULL for none; a
 * stack that ends in code without a name of a file may be whole: a stripped program begins so.
 */
struct stacks_gaps {
	uint64_t samples;
	uint64_t
		with_jit; /* something in the stack was compiled by a runtime and named by nobody */
	uint64_t unnamed; /* were in code of files that has no name */
	uint64_t unnamed_in_file;
	const char *unnamed_file;
	uint64_t cut;	       /* are as deep as the recorder allowed, and end there */
	uint64_t early;	       /* end elsewhere than where threads begin */
	uint64_t early_in_jit; /* in code that a runtime compiled */
	uint64_t early_in_file;
	const char *early_file;
	bool java;
};
/* max: frames that were recorded of a stack at most, by type; 0: all. */
struct stacks_gaps stacks_gaps(const struct stacks *s, const uint32_t *max);

#endif
