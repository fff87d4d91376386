/* SPDX-License-Identifier: MIT */
/* Between hist.c and hist_sum.c. Not for others. */
#ifndef KYMO_CALC_ROWS_HIST_IMPL_H
#define KYMO_CALC_ROWS_HIST_IMPL_H

#include "calc/rows/hist.h"

static inline uint64_t pair_hash(struct cell_pair at)
{
	uint64_t x = ((uint64_t)at.entry << 32 | at.site) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 32;
}

static inline bool same_pair(struct cell_pair a, struct cell_pair b)
{
	return a.entry == b.entry && a.site == b.site;
}

/* Rows in any order, and what they add up to; h->direct says how they are to be found. */
void hist_sum_up(struct hist *h);

#endif
