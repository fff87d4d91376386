/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a recording cut to what a picture can show.
 *
 * A million samples may have a million different stacks, and a picture shows a
 * few thousand frames of them. So no stack is kept. The samples are read, and
 * counted in a tree of their call paths. When that is done the tree is not large,
 * usually, and that was all.
 *
 * A tree that grows too large is given up: from then on each sample's weight is
 * added to counters that its call paths hash to, which say of every path at most too
 * much, never too little. Then the samples are read again, and each path is
 * followed while its counter says that it could be seen, and counted exactly
 * there. Where most paths are seen no more after some frames, the counters are
 * for so many frames only; what goes on and can be seen there is read once more.
 *
 * Every frame of at least min_share has its true total; memory is that of the
 * picture, not of the recording.
 */
#ifndef KYMO_CALC_VISIBLE_H
#define KYMO_CALC_VISIBLE_H

#include "calc/stacks.h"
#include "event/trace.h"
#include "sym/sym.h"

struct visible_opts {
	double min_share; /* of the weight, above 0 */
	bool by_comm;	  /* processes have frames of their own, below which shares count */
	bool by_pid, by_tid;
	bool counts;		 /* samples, not what they stand for */
	bool inlines;		 /* inlined functions as frames */
	bool collapse_recursion; /* a function called by itself is one frame */
	uint32_t type;		 /* only of this event; UINT32_MAX: of the earliest sample's */
	uint32_t max_nodes;	 /* of the tree of a thread; 0: as many as is sensible */
};

/*
 * Fill *ret (empty before) with paths cut short; *type is what was counted.
 * -EOPNOTSUPP when the recording has chains that only profile_stacks() can
 * show; *ret is empty then.
 */
int visible_stacks(struct source *s, struct symbols *symbols, const struct visible_opts *o,
		   struct stacks *ret, uint32_t *type, struct err *e);

#endif
