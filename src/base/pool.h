/* SPDX-License-Identifier: MIT */
/*
 * Work on several CPUs: n independent jobs, taken in order by a few threads.
 */
#pragma once

#include <stddef.h>

/* How many threads are worth using: the CPUs this process may run on. */
unsigned pool_threads(void);

/*
 * Call fn(ctx, job, worker) for every job in [0, n), on at most `threads` threads
 * (0: pool_threads()); worker is below that number and tells threads apart. The
 * caller's thread is worker 0. The first non-zero answer ends it and is returned.
 */
int pool_run(size_t n, unsigned threads, int (*fn)(void *ctx, size_t job, unsigned worker),
	     void *ctx);
