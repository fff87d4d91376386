/* SPDX-License-Identifier: MIT */
/*
 * kymo's cache folder: files by build-id, and answers already found.
 *
 *	$XDG_CACHE_HOME/kymo/ab/cdef.../elf	a copy of a file that may vanish
 *	                               /path	the path it had
 *	                               /debug	its debug file
 *	                               /index	names and lines of addresses asked before
 *
 * Only what belongs to this user and nobody else can write is trusted. Files
 * are written beside their place and renamed, so a reader sees all or nothing;
 * a damaged or older index is ignored, and written anew.
 */
#ifndef KYMO_SYM_CACHE_H
#define KYMO_SYM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sym/elf.h"

/*
 * The folder as a descriptor, made (0700) when missing. path NULL: the user's.
 * -EPERM when it is not this user's own.
 */
int cache_open(const char *path, struct err *e);

/* A file of a build-id: "elf", "debug", "index". -ENOENT, or -EPERM when it cannot be trusted. */
int cache_get(int cache, const struct build_id *id, const char *name);

/* Keep a copy of what fd holds, up to limit bytes (-EFBIG). One that is there already stays. */
int cache_put(int cache, const struct build_id *id, const char *name, int fd, uint64_t limit,
	      struct err *e);

/* Write a small file from memory, in place of one that is there. */
int cache_write(int cache, const struct build_id *id, const char *name, const void *data, size_t n,
		struct err *e);

/*
 * A copy of a file that may vanish, with the path it had ("path" beside it), for people to
 * know it by. limit as above.
 */
int cache_keep(int cache, const struct build_id *id, const char *path, int fd, uint64_t limit,
	       struct err *e);
/* Such a copy in the user's own cache. -errno when there is none. */
int cache_kept(const struct build_id *id);
/* Each build-id that has such a copy. fn's non-zero answer ends it. */
typedef int cache_fn(void *ctx, const struct build_id *id, const char *path);
int cache_each(int cache, cache_fn *fn, void *ctx);
/* All of a build-id. -ENOENT when there is nothing. */
int cache_remove(int cache, const struct build_id *id);

/*
 * Keep the folder below limit bytes: what was not used for the longest time goes
 * first. Does nothing when it was done within the last day, unless force is set.
 * Returns how many bytes were given back.
 */
#define CACHE_LIMIT ((uint64_t)2 << 30) /* 0: everything goes */
uint64_t cache_trim(int cache, uint64_t limit, bool force);
/* Bytes of all that is there. */
uint64_t cache_size(int cache);

#endif
