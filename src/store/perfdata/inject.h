/* SPDX-License-Identifier: MIT */
/*
 * A recording again, with its list of build-ids in place of the one it had. A file stays
 * byte for byte what it was but for that list; a stream gets it as records before the first
 * that tells of anything.
 */
#pragma once

#include "base/str.h"
#include "event/trace.h"

/* One entry of the list, in the encoding of the feature; misc is the cpumode. */
void perfdata_build_id_entry(struct strbuf *b, uint16_t misc, int32_t pid, const uint8_t *id,
			     size_t n, const char *path);

/*
 * s from perfdata_open(); entries as made above. To a file, or to standard output ("-"), which
 * gets a stream. -EOPNOTSUPP for recordings in a folder, cut ones and those of the other endian.
 */
int perfdata_inject(struct source *s, const struct strbuf *entries, const char *output,
		    struct err *e);

/*
 * Where and how long tasks slept, from a recording of sched:sched_switch and sched:sched_stat_*.
 *
 * A sched_stat event knows how long a task was away, but is taken in whoever wakes it; the task's
 * last sched_switch knows where it went to sleep. They are merged to one: the switch with its
 * stack, at the time and with the period of the sched_stat, as perf inject -s does. All other
 * switches, sched_stats and exits are left out; everything else stays.
 */
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
