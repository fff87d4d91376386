/* SPDX-License-Identifier: MIT */
/*
 * kymo heat without a recording: its events from an instance of tracefs, and whose they are.
 *
 * Not through perf: there are kernels that hand perf hardly anything of what happens while a CPU
 * idles, and that is when disks answer and tasks are woken. perf is what is left where tracefs
 * is refused, or does not have the event.
 */
#ifndef KYMO_CMD_PICTURE_HEAT_LIVE_H
#define KYMO_CMD_PICTURE_HEAT_LIVE_H

#include "base/map.h"
#include "cmd/picture/heat.h"
#include "kern/cpu.h"
#include "kern/proc.h"

/* Who is measured, found out while events are read in order: threads are born and get names. */
struct heat_whom {
	bool some;	  /* only threads of `tids`, and what they start */
	struct map tids;  /* theirs: 1; the recorder's own: 2 */
	struct cpus cpus; /* n 0: all */
	bool until_named; /* a command counts from its exec on */
	struct map names; /* of threads: id in strings + 1 */
	struct strtab strings;
	struct map owners; /* of requests that wait in a queue: who put them there */
	uint32_t insert, complete;
	uint32_t newtask, rename; /* types that are only there for this; UINT32_MAX: none */
	bool live;
};

/* The types and fields of a source that was captured for w. */
void heat_whom_begin(struct heat_whom *w, const struct trace *t);
/* Learn from an event; false when it is to be passed over altogether. */
bool heat_whom_see(struct heat_whom *w, const struct trace *t, const struct event *ev);
/* Who an event is of: whom the scheduler's are about, and who queued what a kernel thread issues.
 */
int32_t heat_whom_of(const struct heat_whom *w, const struct trace *t, const struct event *ev);
/* Is what begins with it, or what it says, to be shown? */
bool heat_whom_has(const struct heat_whom *w, const struct trace *t, const struct event *ev,
		   bool any_cpu);
/* The name that a thread has now; NULL when it is not known. */
const char *heat_whom_name(struct heat_whom *w, int32_t tid);
void heat_whom_free(struct heat_whom *w);

/*
 * Capture what a asks for while command (may be NULL) runs, for a->duration, or until Ctrl-C.
 * 1: *ret is the source; 0: it has to be perf, and why says why; or -errno.
 */
int heat_live(const struct heat_args *a, char **command, struct heat_whom *w, struct source **ret,
	      struct err *why, struct err *e);

#endif
