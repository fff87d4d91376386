/* SPDX-License-Identifier: MIT */
/* Where a buffer of a trace is: in an instance of its own, or in the top one where it must be. */
#ifndef KYMO_LIVE_FTRACE_INSTANCE_H
#define KYMO_LIVE_FTRACE_INSTANCE_H

#include "live/ftrace/ftrace.h"

/* Whether its directory has the file. */
bool ftrace_has(const struct ftrace_buffer *b, const char *name);
/* Adds a buffer to f and makes its instance; a tracer that the kernel has not is refused. */
int ftrace_open_buffer(struct ftrace *f, struct ftrace_buffer_opt *o, struct err *e);

#endif
