/* SPDX-License-Identifier: MIT */
/*
 * perf script's text into stacks: what the recording it was made of would give.
 *
 * The file of a frame says whether it is the kernel's or made just in time. Weights
 * are the counts in the text; where it has none, each sample is 1.
 */
#ifndef KYMO_CALC_READ_UNSCRIPT_H
#define KYMO_CALC_READ_UNSCRIPT_H

#include "calc/stacks/stacks.h"
#include "store/text/script_text.h"

struct unscript_opts {
	bool counts;	    /* samples, not what they stand for */
	bool inlines;	    /* inlined functions as frames */
	bool merge_unknown; /* addresses without a name are not told apart */
	bool times;	    /* the entries' times are kept, as they are in the text */
};

struct unscript_info {
	uint32_t first_type; /* of the earliest sample; of waiting where there is no other */
	uint64_t first_time, last_time; /* of all samples; 0: the text has none */
};

/* Adds to *ret, empty before. On failure what was added so far stays; stacks_free() it. */
int unscript_text(const char *name, const char *data, size_t n, const struct unscript_opts *o,
		  struct stacks *ret, struct unscript_info *info, struct err *e);

#endif
