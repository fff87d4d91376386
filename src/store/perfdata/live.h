/* SPDX-License-Identifier: MIT */
/*
 * perf records as they come out of the kernel's rings, decoded by the same code
 * as files: what a live view needs between capture and calculation.
 */
#ifndef KYMO_STORE_PERFDATA_LIVE_H
#define KYMO_STORE_PERFDATA_LIVE_H

#include "event/trace.h"
#include "store/perfdata/write.h"

/* A trace without samples of its own; source_close() frees it. */
struct source *perfdata_live_new(void);
/* All events before the first feed, in the order they were opened. */
int perfdata_live_event(struct source *s, const struct perfdata_event *ev, struct err *e);
void perfdata_live_start(struct source *s);

/*
 * Whole records, in any order of CPUs. Side-band is applied to the trace's tasks
 * first, then fn gets the samples. Nothing is kept of data.
 */
int perfdata_live_feed(struct source *s, const void *data, size_t n, event_fn *fn, void *ctx,
		       struct err *e);

/* When the last change of tasks was. */
uint64_t perfdata_live_time(const struct source *s);

#endif
