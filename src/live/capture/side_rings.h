/* SPDX-License-Identifier: MIT */
/*
 * A ring a CPU that tells of mappings, names, forks, execs and exits as they happen;
 * walked_side() (live/walk/walked.h) puts what they tell in order.
 */
#ifndef KYMO_LIVE_CAPTURE_SIDE_RINGS_H
#define KYMO_LIVE_CAPTURE_SIDE_RINGS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "live/capture/ring.h"

/* What stands behind each record: walked's side_type. */
#define SIDE_RINGS_SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct side_rings {
	struct ring *ring;
	size_t n;
};

/*
 * Of a process (-1: of all); a has what is wanted beside that. After a failure those that were
 * opened are there, to be used or closed.
 */
int side_rings_open(struct side_rings *s, struct perf_event_attr a, pid_t pid, struct err *e);
void side_rings_close(struct side_rings *s);

#endif
