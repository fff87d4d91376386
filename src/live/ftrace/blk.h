/* SPDX-License-Identifier: MIT */
/* Disks for the tracer "blk". */
#ifndef KYMO_LIVE_FTRACE_BLK_H
#define KYMO_LIVE_FTRACE_BLK_H

#include "live/ftrace/ftrace.h"

/* Switch on every disk that has a size, until f is closed; f->note says which. */
int ftrace_blk_devices(struct ftrace *f, struct err *e);

#endif
