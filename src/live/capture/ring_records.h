/* SPDX-License-Identifier: MIT */
/*
 * Records out of the pieces that rings give: one that lies across a ring's end comes in two,
 * one right after the other. Here each is seen whole.
 */
#ifndef KYMO_LIVE_CAPTURE_RING_RECORDS_H
#define KYMO_LIVE_CAPTURE_RING_RECORDS_H

#include <linux/perf_event.h>

#include "base/str.h"

/* A zeroed struct is empty. */
struct ring_records {
	struct strbuf cut; /* the first part of a record */
};

typedef void ring_records_fn(void *ctx, const struct perf_event_header *record);
void ring_records_each(struct ring_records *p, const void *data, size_t n, ring_records_fn *fn,
		       void *ctx);
void ring_records_free(struct ring_records *p);

#endif
