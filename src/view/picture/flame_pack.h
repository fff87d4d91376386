/* SPDX-License-Identifier: MIT */
/* A profile as the numbers the interactive page reads; flame_html.c makes them fit. */
#ifndef KYMO_VIEW_PICTURE_FLAME_PACK_H
#define KYMO_VIEW_PICTURE_FLAME_PACK_H

#include "base/str.h"
#include "view/picture/flame_html.h"

#define FLAME_STEPS 1024u /* of time, at best */

/* How much goes in. */
struct flame_detail {
	double min_share; /* frames below it are pruned */
	size_t max_nodes; /* with more, nothing is written */
	uint32_t steps;	  /* of time */
	bool cpus, threads;
	bool leaves; /* the innermost functions of pruned stacks */
};

#define FLAME_SHARES 16
struct flame_packed {
	uint64_t nodes, entries;
	uint64_t pruned_stacks;
	double pruned_share;
	uint32_t cpus;
	uint32_t time_steps; /* 0: the stacks have no times */
	uint64_t time_step;  /* ns */
	bool too_many;	     /* nothing was written: more than max_nodes */
	/* A min_share that would leave about so many sixteenths of the nodes; 0 is unused. */
	double leaves_share[FLAME_SHARES];
};

/* Adds to ret. With too_many ret and the other figures are left alone. */
int flame_pack(const struct stacks *s, const struct stacks *after, const struct flame_html_opts *o,
	       const struct flame_detail *d, struct strbuf *ret, struct flame_packed *info,
	       struct err *e);

#endif
