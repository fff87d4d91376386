/* SPDX-License-Identifier: MIT */
/*
 * kymo's own threads, left out of a capture.
 *
 * The kernel can leave threads out (set_event_notrace_pid), but then looks at each
 * event of everybody: 55 ns of 390 an event of a system call, measured. It also leaves
 * out what an interrupt did while they were running. So, where the threads that take
 * the pages cause few of the events, their records are left out when the pages are saved; the
 * kernel leaves them out where each page taken would make events for the next.
 */
#ifndef KYMO_LIVE_FTRACE_OWN_H
#define KYMO_LIVE_FTRACE_OWN_H

#include "live/ftrace/capture.h"

/*
 * Before ftrace_start(). Buffers whose pages will have records of these threads, to be
 * left out when they are saved, have own_inside set.
 */
int ftrace_own_exclude(struct ftrace *f, const struct ftrace_capture *c, struct err *e);

#endif
