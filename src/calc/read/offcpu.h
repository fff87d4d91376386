/* SPDX-License-Identifier: MIT */
/*
 * Any recording seen as time off the CPU: a source whose samples are waits, each
 * with the stack that waited and weighing the nanoseconds it took.
 *
 * Recordings of record --off-cpu have such samples (event offcpu-time), and only
 * those are handed out. Of others, sched:sched_switch tells when a thread left the
 * CPU to wait, where it was, and when it came back; sched:sched_waking or
 * sched:sched_wakeup who ended the wait.
 *
 * With wakers a chain goes on, beyond where the thread waited, through a frame
 * that names the waker to its stack, innermost function first: who was waited for.
 */
#pragma once

#include "event/trace.h"

enum offcpu_what {
	OFFCPU_WAITS,
	OFFCPU_WAKERS, /* the same, with who ended them */
	OFFCPU_BESIDE, /* all samples, and the waits beside them */
};

/*
 * Takes s over (not on failure). The trace is s's own but for its types, of which
 * there is one; OFFCPU_BESIDE adds one to them, the last. A recording that has
 * its waits as samples is beside them already: *ret is s.
 */
int offcpu_new(struct source *s, enum offcpu_what what, struct source **ret, struct err *e);
