/* SPDX-License-Identifier: MIT */
/*
 * Programs that may be gone when a recording is read: deleted ones, those of containers, in folders
 * for temporary files. While recording they are held open; at the end those that were hit are
 * copied into the cache, within limits. Other files cost two stat() calls once. A process that has
 * ended before its mapping was seen cannot be asked.
 *
 * In a container paths and build-ids can be anybody's: a copy is kept for its recording, and where
 * different files had one path and one build-id, none is.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "event/trace.h"
#include "sym/find/cache_key.h"

#define KEEP_FILES 512			      /* held open at most */
#define KEEP_FILE_BYTES ((uint64_t)256 << 20) /* of one copy */
#define KEEP_ALL_BYTES ((uint64_t)1024 << 20) /* of all copies of a recording */

struct keep;
struct keep *keep_new(void);
void keep_free(struct keep *k); /* NULL is fine */

/* A record as it goes into the file: one that maps code is looked at. */
void keep_record(struct keep *k, const struct perf_event_header *h);

/* Copies what was hit (by dso) into the cache for this recording; how many files. By any thread.
 * Files without a build-id get one. */
size_t keep_save(struct keep *k, const struct recording_id *r, struct tasks *t, uint8_t *hit);
