/* SPDX-License-Identifier: MIT */
/*
 * The interactive flame graph: one HTML file that needs nothing else.
 *
 * The page (web/flame/) is the same for every profile; the profile stands in it
 * as base64 of deflate of a JSON header and columns of variable-length numbers
 * (see flame_pack.c), which the page's script undoes. Where the file would be
 * larger than max_bytes, detail is left out (finer time, CPUs, small frames) and
 * the page says so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "calc/stacks/calltree.h"
#include "calc/stacks/stacks.h"

struct flame_html_opts {
	const char *title, *subtitle, *notes; /* subtitle and notes may be NULL */
	const char *unit;		      /* NULL: the stacks' own */
	const char *names[2];		      /* of the sides of a comparison; may be NULL */
	enum calltree_label label;
	uint32_t type;	    /* only this event, or CALLTREE_ALL_TYPES */
	uint32_t first;	    /* the event that the page starts with */
	size_t max_bytes;   /* of the whole file */
	bool merge_unknown; /* code without a name is one frame a module */
	/* how the page starts */
	bool reverse, inverted, chart, collapse_recursion, by_size, normalize, seconds;
	bool wall; /* all events together: they are all times */
};

struct flame_html_info {
	uint64_t nodes, stacks;
	uint64_t bytes;
	uint64_t pruned_stacks; /* cut short */
	double pruned_share;	/* of the weight */
	double min_share;	/* frames below it are not in the file */
	uint32_t time_steps;	/* 0: no times */
	uint64_t time_step;	/* ns */
	bool cpus_dropped;
	bool uncompressed; /* this kymo was built without zlib */
};

/* after NULL: no comparison. */
int flame_html_write(FILE *f, const struct stacks *s, const struct stacks *after,
		     const struct flame_html_opts *o, struct flame_html_info *ret, struct err *e);
