/* SPDX-License-Identifier: MIT */
/*
 * Counts in a perf.data: what `stat record` writes and `stat report` reads.
 *
 * Events are attrs as in any recording, but instead of samples there are STAT
 * records: one event's count on one CPU and thread since the start. A
 * STAT_ROUND record ends an interval, or all of it. A THREAD_MAP names the
 * threads, STAT_CONFIG says how counts were to be summed.
 */
#pragma once

#include "event/count.h"
#include "event/trace.h"
#include "store/perfdata/write.h"

struct statdata_config {
	enum stat_by by; /* where whoever reads them says nothing else */
	uint64_t interval_ms; /* 0: one sum at the end */
	bool no_scale;
};

/* --- the records --- */

struct statdata_thread {
	uint64_t tid;
	char name[16];
};

struct statdata_term {
	uint64_t tag, value;
};
enum { STATDATA_TAG_BY, STATDATA_TAG_INTERVAL, STATDATA_TAG_SCALE };

struct statdata_count {
	uint64_t id;
	uint32_t cpu, thread; /* thread: its place in the map */
	uint64_t value, enabled, running;
};

struct statdata_round {
	uint64_t type, time;
};
enum { STATDATA_INTERVAL, STATDATA_FINAL };

/* --- writing --- */

/* The set's events as types, each place with an id of its own; all from the arena. */
struct perfdata_event *statdata_types(const struct count_set *set, struct arena *a);
/* What precedes the counts; after perfdata_write_start(). A thread's name may be "". */
int statdata_write_begin(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, const struct statdata_config *c,
			 const char *(*thread_name)(void *ctx, pid_t tid), void *ctx,
			 struct err *e);
/* The counts since the start, and the end of the interval, or of all. */
int statdata_write_round(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, uint64_t time_ns, bool final,
			 struct err *e);
/* The command's own times; before the last round. */
int statdata_write_usage(struct perfdata_writer *w, const struct count_set *set,
			 const struct perfdata_event *types, uint64_t user_ns, uint64_t sys_ns,
			 struct err *e);

/* --- reading --- */

struct statdata {
	struct count_set set; /* counts since the round before; statdata_totals(): since the start
			       */
	struct statdata_config config;
	bool has_config;
	double user_s, sys_s; /* of the command; negative: not known */
	void *impl;
};

/* Does a recording hold counts? False for those that perfdata_open() did not open. */
bool statdata_in(const struct source *s);
/* Takes over nothing; s must come from perfdata_open() and live longer. -ENODATA: no counts. */
int statdata_open(struct source *s, struct statdata **ret, struct err *e);
typedef int statdata_fn(void *ctx, struct statdata *d, uint64_t time_ns, bool final, struct err *e);
/* Calls fn at each round. */
int statdata_each(struct statdata *d, statdata_fn *fn, void *ctx, struct err *e);
void statdata_totals(struct statdata *d);
/* "" when it has none. */
const char *statdata_thread(const struct statdata *d, pid_t tid);
void statdata_close(struct statdata *d); /* NULL is fine */

/*
 * source->read_ordered of a recording with counts: each interval's count, scaled as stat shows
 * it, is an EVENT_COUNTER from the interval's start on. They are no samples: all must be true.
 */
int statdata_read_ordered(struct source *s, bool all, event_fn *fn, void *ctx, struct err *e);
