/* SPDX-License-Identifier: MIT */
/*
 * A stack walker that is opened in a thread while the program that will call it is read,
 * compiled and given its maps: making the walker's takes as long as all of that.
 */
#ifndef KYMO_LIVE_RUN_WALKER_H
#define KYMO_LIVE_RUN_WALKER_H

#include "live/walk/walker.h"

struct run_walker;

/* pid: whose tables are wanted at once; 0: nobody's. NULL when there can be no thread. */
struct run_walker *run_walker_begin(int32_t pid);
/* How many frames are wanted: it waits for that; 0: it is not wanted at all. */
void run_walker_depth(struct run_walker *r, uint32_t depth);
/* Waits until walker_function() works, and nothing else yet; NULL: that cannot be had. */
struct walker *run_walker_loaded(struct run_walker *r);
/* Waits until it is complete and hands it over; NULL: why says it. r is freed. */
struct walker *run_walker_end(struct run_walker *r, struct err *why);
/* It was not needed. NULL is fine. */
void run_walker_cancel(struct run_walker *r);

#endif
