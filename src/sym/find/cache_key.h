/* SPDX-License-Identifier: MIT */
/*
 * By what things are kept in the cache folder (sym/find/cache.h).
 *
 * A build-id is a note in a file: whoever makes a file chooses it. So what was found out about a
 * file is kept by what nobody can choose: its device, number, size, owner and times, of which
 * the kernel sets ctime whenever anything of it changes. What another user's file says is used
 * for that very file and no other.
 */
#pragma once

#include <sys/stat.h>

#include "base/digest.h"

struct build_id;

enum cache_kind {
	CACHE_NONE,
	CACHE_FILE,	 /* what is known of a file */
	CACHE_CONTENT,	 /* a copy of one, by its path and all its bytes */
	CACHE_RECORDING, /* which copy a recording means by a path and a build-id */
	CACHE_KERNEL,	 /* of a kernel, which only root can choose */
};
struct cache_key {
	enum cache_kind kind; /* CACHE_NONE: nothing is kept */
	uint8_t data[DIGEST_BYTES];
};

struct cache_key cache_key_file(const struct stat *st);
/* One of the files in an archive: that archive and no other. */
struct cache_key cache_key_within(const struct cache_key *archive, const struct build_id *id);
struct cache_key cache_key_kernel(const struct build_id *id);
/* The id that was made for a copy; CACHE_NONE when it cannot be one. */
struct cache_key cache_key_content(const struct build_id *id);

/* A recording is told from others by when its first and last sample came, in nanoseconds. */
struct recording_id {
	uint64_t first, last; /* 0, 0: none */
};
struct cache_key cache_key_recording(const struct recording_id *r, const struct build_id *id,
				     const char *path);
