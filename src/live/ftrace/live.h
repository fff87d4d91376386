/* SPDX-License-Identifier: MIT */
/* What an instance of tracefs traces, as a source that is polled (store/tracedat/live.h). */
#pragma once

#include "event/trace.h"
#include "live/ftrace/ftrace.h"

/* Of the first instance of f, which is open. On failure *ret is untouched. */
int ftrace_live_open(const struct ftrace *f, struct source **ret, struct err *e);
