/* SPDX-License-Identifier: MIT */
/*
 * Heat maps: how often which latency, over time.
 *
 * Points (time, value, label) fall into cells of equal time and of equal value,
 * or of values that grow by the same factor: latencies span decades, and a
 * linear scale would put all but the worst into its lowest row. Every point is
 * in a cell or is counted as outside; none gets lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

struct heat_point {
	uint64_t time;	 /* ns */
	uint64_t value;	 /* ns, bytes ... */
	uint32_t label;	 /* in strings: a device, a process, an operation; STRTAB_NONE */
	uint32_t detail; /* in details: what else is known of this one event; STRTAB_NONE */
};

struct heat_points {
	struct strtab strings, details;
	VEC(struct heat_point) points; /* in any order */
	const char *unit;	       /* of values: "ns", "bytes", "" */
	const char *what;	       /* what they are: "latency" */
	char *why;		       /* why there are none; NULL when that is not known */
};
void heat_points_free(struct heat_points *p);

struct heat_opts {
	uint32_t columns, rows; /* at most */
	bool linear;
	uint64_t min, max; /* of the value axis; 0: what the points have */
	uint64_t step;	   /* ns a column; 0: as many columns as there may be */
};

static const double heat_percents[] = { 50, 90, 95, 99, 99.9, 99.99 };
#define HEAT_PERCENTS 6

struct heat {
	uint32_t columns, rows;
	uint64_t first, step; /* column c is [first + c * step, first + (c + 1) * step) */
	double *edge;	      /* rows + 1: row r is [edge[r], edge[r + 1]), the last with its end */
	uint32_t *count;      /* by column * rows + row */
	uint32_t most;	      /* in a cell */
	uint64_t total;	      /* points, wherever they are */
	uint64_t low, high;   /* points below and above the value axis */
	uint64_t min, max;
	double mean;
	uint64_t percentile[HEAT_PERCENTS]; /* nearest rank: a value that occurred */
};

/* No points give a heat of no columns and rows. */
int heat_make(const struct heat_points *p, const struct heat_opts *o, struct heat *ret,
	      struct err *e);
void heat_free(struct heat *h);

/* The row a value belongs to; rows when it is outside. */
uint32_t heat_row(const struct heat *h, uint64_t value);
