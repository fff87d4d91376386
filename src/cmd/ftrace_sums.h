/* SPDX-License-Identifier: MIT */
/* Sums over a trace.dat, for profile, hist and mem. */
#ifndef KYMO_CMD_FTRACE_SUMS_H
#define KYMO_CMD_FTRACE_SUMS_H

#include "event/trace.h"

/* Time on CPU, switches, wake-up latencies of tasks; interrupts; how often each event came. */
int ftrace_sums_tasks(struct source *s, struct err *e);

#endif
