/* SPDX-License-Identifier: MIT */
/*
 * When stacks were on the clock: what a flame chart is drawn from.
 *
 * A sample stands for the time up to the next one of its thread, but for no more than a few
 * periods: a thread that was not seen for longer did not run. What lasted for a known time (a
 * wait) stands where it was. Entries without a time are left out, and how much they weigh is told.
 *
 * Threads that ran at the same time get lanes of their own; one that came when another had ended
 * may have its lane.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "calc/stacks/stacks.h"

struct chart_piece {
	uint64_t from, to; /* ns; never empty */
	uint32_t entry;
	uint32_t thread;
};

struct chart_thread {
	int32_t pid, tid;
	uint32_t first, n; /* pieces, in the order of time; none overlaps another */
	uint32_t lane;
	uint64_t from, to;
};

struct chart {
	VEC(struct chart_piece) pieces;	  /* thread by thread */
	VEC(struct chart_thread) threads; /* lane by lane, each in the order of time */
	uint32_t lanes;
	uint64_t from, to;
	double left_out; /* share of the weight that has no time */
};

/* ns that a sample of the type stands for: what was asked for, or what is usual. */
uint64_t chart_period(const struct stacks *s, uint32_t type);
/* Do stacks of the type (or of all) have times? */
bool chart_is_timed(const struct stacks *s, uint32_t type);
void chart_make(const struct stacks *s, uint32_t type, struct chart *ret);
void chart_free(struct chart *c);
