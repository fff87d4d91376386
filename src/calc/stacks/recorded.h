/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a recording, named and weighted, for pictures and folded text: one call, behind
 * which stand four ways to count them. The first that can do what is asked is taken:
 *
 * own_stacks() (calc/read)	of a source that has names of its own, as they are
 * visible_stacks()		only what a picture shows: paths of functions in a tree that has
 *				branches where many go
 * paths_stacks()		all stacks as paths of functions
 * profile_make()		all stacks as addresses that are named afterwards: also addresses
 *				without a name apart, wakers, and copies of stacks
 *
 * Why not one: CPU time and peak memory to an SVG by visible_stacks() and by paths_stacks(), both
 * without gaps, and to folded text by profile_make(), with them; two busy CPUs, medians:
 *
 * 3.35M samples of a compiler		0.39 s,  36 MiB	0.77 s, 90 MiB	3.24 s, 918 MiB
 * 0.10M walked stacks of a compiler	0.11 s,  36 MiB	0.14 s, 41 MiB	0.27 s,  93 MiB
 * 0.19M stacks, nearly all different	0.11 s,  33 MiB	0.18 s, 56 MiB	0.41 s, 117 MiB
 */
#pragma once

#include "calc/profile/names.h"
#include "calc/read/idle.h"
#include "calc/stacks/calltree.h"
#include "calc/stacks/stacks.h"
#include "event/trace.h"

struct recorded_opts {
	bool times;   /* when samples were, in steps, and source lines: pages filter by them */
	bool inlines; /* inlined functions as frames */
	bool counts;  /* samples, not what they stand for */
	bool merge_unknown; /* addresses without a name are not told apart */
	bool wakers;	    /* with who ended the waits */
	bool marks;	    /* waiting looks different from running */
	bool without_idle;  /* time in which CPUs had nothing to do is left out */
	bool once;	    /* the source is slow, as one that unwinds copies: one pass over it */
	/*
	 * Above 0: only frames of at least this share will be seen, below a frame for each
	 * label, so that no more need be kept.
	 */
	double min_share;
	enum calltree_label label;
	bool collapse_recursion; /* with min_share: a function called by itself is one frame */
	const char *event; /* with min_share: the only one that will be shown; NULL: the first */
	/* Told the names of what samples lack (gaps.h); NULL: nobody asks. */
	void (*say_gaps)(const struct trace *t, const struct names *n);
	/* For tests; 0: as is sensible. */
	uint32_t tail; /* functions kept of a path */
	uint32_t room; /* and words for all of them */
	uint32_t few;  /* samples above which a recording is read in part first */
};

/* Stacks to be shown, and what is known of them. */
struct recorded {
	struct stacks side[2]; /* [1] only when two */
	bool two;	       /* a comparison: two files, or one with two counts */
	bool folded;	       /* from folded text: names are as somebody wants them */
	bool several;	       /* of a pprof profile: each sample has a value of every type */
	bool cut;	       /* min_share: stacks end where nothing more is seen */
	uint32_t first_type;   /* the event of the earliest sample, of waiting only where there is
				  no other: what is shown when none was named */
	uint32_t off_type;     /* the event that is time off the CPU; UINT32_MAX: none */
	struct idle idle;      /* what was left out */
	const char *note;      /* what had to be changed while reading; NULL: nothing */
};

/*
 * Fill side[0] (empty before), and side[1] where the source has both sides of a comparison; the
 * rest of *about is what this source says. symbols: NULL for a source with names of its own.
 */
int recorded_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		    struct stacks side[2], struct recorded *about, struct err *e);
void recorded_free(struct recorded *r);
