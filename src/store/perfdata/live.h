/* SPDX-License-Identifier: MIT */
/*
 * perf records as they come out of the kernel's rings, decoded by the same code as files: a source
 * that is polled.
 */
#pragma once

#include "event/trace.h"
#include "store/perfdata/write.h"

/* Gives put(to, ...) the bytes that have come since the last call, records of any order of CPUs.
 * Returns how many, or -errno. */
typedef int perfdata_live_put_fn(void *to, const void *data, size_t n, struct err *e);
typedef int64_t perfdata_live_drain_fn(void *ctx, perfdata_live_put_fn *put, void *to,
				       struct err *e);

/* A trace without samples of its own; source_close() frees it. */
struct source *perfdata_live_new(perfdata_live_drain_fn *drain, void *ctx);
/* All events before the first poll, in the order they were opened. */
int perfdata_live_event(struct source *s, const struct perfdata_event *ev, struct err *e);
void perfdata_live_start(struct source *s);
/* Bytes that come from elsewhere, before those of the next poll. */
perfdata_live_put_fn perfdata_live_put; /* to: the source */

/* When the last change of tasks was. */
uint64_t perfdata_live_time(const struct source *s);
