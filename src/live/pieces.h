/* SPDX-License-Identifier: MIT */
/*
 * Records out of the pieces that rings give: one that lies across a ring's end comes in two,
 * one right after the other. Here each is seen whole.
 */
#ifndef KYMO_LIVE_PIECES_H
#define KYMO_LIVE_PIECES_H

#include <linux/perf_event.h>

#include "base/str.h"

/* A zeroed struct is empty. */
struct pieces {
	struct strbuf cut; /* the first part of a record */
};

typedef void pieces_fn(void *ctx, const struct perf_event_header *record);
void pieces_each(struct pieces *p, const void *data, size_t n, pieces_fn *fn, void *ctx);
void pieces_free(struct pieces *p);

#endif
