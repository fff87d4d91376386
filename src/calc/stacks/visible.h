/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a recording cut to what a picture can show.
 *
 * A million samples may have a million different stacks, and a picture shows a
 * few thousand frames of them. So no stack is kept, and none is followed, nor named, further than
 * many go along: see calc/stacks/prefix_tree.h. A large recording is read in part first, to find
 * out how far that is, and then as a whole; where the part said too little, once more.
 *
 * Every frame of at least min_share has its true total; memory is that of the
 * picture, not of the recording.
 */
#ifndef KYMO_CALC_STACKS_VISIBLE_H
#define KYMO_CALC_STACKS_VISIBLE_H

#include "calc/stacks/stacks.h"
#include "event/trace.h"
#include "sym/names/sym.h"

struct gaps;
struct visible_opts {
	struct gaps *gaps; /* filled with what the samples lack (gaps.h); NULL: nobody asks */
	double min_share;  /* of the weight, above 0 */
	bool by_comm;	   /* processes have frames of their own, below which shares count */
	bool by_pid, by_tid;
	bool counts;		 /* samples, not what they stand for */
	bool inlines;		 /* inlined functions as frames */
	bool collapse_recursion; /* a function called by itself is one frame */
	uint32_t type; /* only of this event; UINT32_MAX: of the earliest sample's, of waiting only
			  where there is no other */
	uint32_t tail; /* for tests: functions kept of a path; 0: as many as is sensible */
	uint32_t room; /* and words for all of them */
	uint32_t few;  /* and samples above which a recording is read in part first */
};

/*
 * Fill *ret (empty before) with paths cut short; *type is what was counted.
 * -EOPNOTSUPP when the recording has chains that only profile_stacks() can
 * show; *ret is empty then.
 */
int visible_stacks(struct source *s, struct symbols *symbols, const struct visible_opts *o,
		   struct stacks *ret, uint32_t *type, struct err *e);

#endif
