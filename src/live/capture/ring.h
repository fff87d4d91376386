/* SPDX-License-Identifier: MIT */
/* A perf ring buffer: what the kernel has put in, handed on in place. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct mapped_ids; /* live/about/mapped_ids.h */

struct ring {
	void *base;
	size_t size; /* of the data, a power of two */
	uint64_t mask;
	int fd;			/* the event it belongs to */
	bool backward;		/* overwritten from the end: a flight recorder */
	uint64_t seen;		/* of a backward one: where its last snapshot began */
	uint64_t lost;		/* told by capture_losses */
	struct mapped_ids *ids; /* records of mappings get build-ids; NULL: they do not */
};

/* size is rounded up to a power of two of pages. -EPERM when it is more than may be locked. */
int ring_open(struct ring *r, int fd, size_t size, bool backward, struct err *e);
void ring_close(struct ring *r);

/*
 * Hands all that is there when called to fn in pieces (records may be split), then gives the room
 * back. Returns the bytes, or fn's -errno.
 */
typedef int ring_fn(void *ctx, const void *data, size_t n, struct err *e);
int64_t ring_drain(struct ring *r, ring_fn *fn, void *ctx, struct err *e);

/* The same in two steps: how much waits, and where it ends; then that much and no more. */
uint64_t ring_waiting(const struct ring *r, uint64_t *head);
int64_t ring_drain_to(struct ring *r, uint64_t head, ring_fn *fn, void *ctx, struct err *e);

/* A paused backward ring's whole records since the last snapshot, newest first. */
int64_t ring_snapshot(struct ring *r, ring_fn *fn, void *ctx, struct err *e);

/*
 * Records out of rings' pieces: one across a ring's end comes in two, in a row; here it is whole.
 */

/* A zeroed struct is empty. */
struct ring_records {
	struct strbuf cut; /* the first part of a record */
};

typedef void ring_records_fn(void *ctx, const struct perf_event_header *record);
void ring_records_each(struct ring_records *p, const void *data, size_t n, ring_records_fn *fn,
		       void *ctx);
void ring_records_free(struct ring_records *p);

/* A ring a CPU that tells of mappings, names, forks, execs and exits; walked_side() orders them. */

/* What stands behind each record: walked's side_type. */
#define SIDE_RINGS_SAMPLE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct side_rings {
	struct ring *ring;
	size_t n;
};

/* Of a process (-1: all); a: what else is wanted. After a failure those opened are there. */
int side_rings_open(struct side_rings *s, struct perf_event_attr a, pid_t pid, struct err *e);
void side_rings_close(struct side_rings *s);
