/* SPDX-License-Identifier: MIT */
/*
 * All stacks of a recording, at once as paths of functions.
 *
 * profile.h counts chains of addresses, which thousands of runs of one program have each for
 * themselves, and names what is left. Here samples are paths of functions from the start
 * (places.h): only those that differ are kept, and a sample is a few numbers.
 */
#ifndef KYMO_CALC_STACKS_PATHS_H
#define KYMO_CALC_STACKS_PATHS_H

#include "calc/stacks/stacks.h"
#include "event/trace.h"
#include "sym/names/sym.h"

struct gaps;
struct paths_opts {
	struct gaps *gaps;     /* as in visible.h */
	bool counts;	       /* samples, not what they stand for */
	bool inlines;	       /* inlined functions as frames */
	bool lines;	       /* source lines of functions */
	uint64_t time_quantum; /* of the entries' times; 0: none are kept */
};

/*
 * Fill *ret (empty before) as profile_stacks() does, with entries by type, process, thread, CPU
 * and time, and code without a name as one frame a module. *first is the event of the earliest
 * sample, of waiting only where there is no other. -EOPNOTSUPP when the recording has chains that
 * only profile_stacks() can show; *ret is empty then. Wakers in chains are not known here.
 */
int paths_stacks(struct source *s, struct symbols *symbols, const struct paths_opts *o,
		 struct stacks *ret, uint32_t *first, struct err *e);

#endif
