/* SPDX-License-Identifier: MIT */
/*
 * Overlapping address ranges made flat: neighbouring segments, each with the
 * one range that counts there, found by binary search.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct interval {
	uint64_t lo, hi; /* hi is the first address behind it */
	uint32_t value;	 /* not 0; of the ranges that cover an address the largest value counts */
};

struct segment {
	uint64_t lo;
	uint32_t value; /* 0: nothing from here on */
};
struct segments {
	struct segment *data; /* from malloc */
	size_t n;
};

/* Empty ranges are ignored. Takes n log n time whatever they are. */
struct segments segments_flatten(const struct interval *list, size_t n);
/* 0 when no range covers the address. */
uint32_t segments_find(const struct segments *s, uint64_t addr);
/* The same; [*lo, *hi), which the address is in, is narrowed to what has the same answer. */
uint32_t segments_span(const struct segments *s, uint64_t addr, uint64_t *lo, uint64_t *hi);
