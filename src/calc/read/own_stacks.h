/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a source with names of its own (event/trace.h, struct trace_own), as it has them:
 * there is nothing to count first and to name later, and its order is kept.
 */
#pragma once

#include "calc/stacks/stacks.h"
#include "event/trace.h"

struct own_stacks_opts {
	bool counts;	       /* samples, not what they stand for */
	bool inlines;	       /* inlined functions as frames, where they can be left out */
	bool merge_unknown;    /* addresses without a name are not told apart */
	uint64_t time_quantum; /* of the times that are kept; 0: none, unless they are as written */
};

/* Adds to side[0], and to side[1] what it is to be compared with where the source has both. */
int own_stacks(struct source *s, const struct own_stacks_opts *o, struct stacks side[2],
	       struct err *e);
