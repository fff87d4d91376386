/* SPDX-License-Identifier: MIT */
/*
 * Where and how long tasks slept, from a recording of sched:sched_switch and sched:sched_stat_*.
 *
 * A sched_stat event knows how long a task was away, but is taken in whoever wakes it; the task's
 * last sched_switch knows where it went to sleep. They are merged to one: the switch with its
 * stack, at the time and with the period of the sched_stat, as perf inject -s does. All other
 * switches, sched_stats and exits are left out; everything else stays.
 */
#ifndef KYMO_STORE_PERFDATA_MERGE_H
#define KYMO_STORE_PERFDATA_MERGE_H

#include "base/str.h"
#include "event/trace.h"

struct perfdata_merged {
	uint64_t merged;
	uint64_t alone; /* sched_stats of tasks that nobody saw leave */
};

/*
 * s from perfdata_open(). entries: build-ids in place of those it has; NULL: leave them.
 * -EOPNOTSUPP as perfdata_inject(), -ENOENT when it has not both kinds of events.
 */
int perfdata_merge(struct source *s, const struct strbuf *entries, const char *output,
		   struct perfdata_merged *ret, struct err *e);

#endif
