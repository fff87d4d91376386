/* SPDX-License-Identifier: MIT */
/*
 * Many rings, emptied by several threads into one file: how much waits in each is looked at
 * once, each gets a place in the file, and then all are written at the same time. One
 * thread writes some GB/s; where dozens of CPUs make more, this keeps up.
 */
#ifndef KYMO_LIVE_CAPTURE_DRAIN_H
#define KYMO_LIVE_CAPTURE_DRAIN_H

#include "live/capture/capture.h"

struct drain_to {
	/* Room for so many bytes, which begins at *at. */
	int (*place)(void *ctx, uint64_t bytes, uint64_t *at, struct err *e);
	/* A piece of a ring there; -errno. By several threads, but each ring by one. */
	int (*put)(void *ctx, size_t ring, uint64_t at, const void *data, size_t n);
	void *ctx;
};

/* How many bytes; -EAGAIN, and nothing done, when fewer than least wait. e is only set by place. */
int64_t drain_rings(struct capture *c, unsigned threads, uint64_t least, const struct drain_to *to,
		    struct err *e);

/* How many threads are worth it for so many rings; 1: none but the caller's. */
unsigned drain_threads(size_t rings);

#endif
