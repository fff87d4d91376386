/* SPDX-License-Identifier: MIT */
/*
 * kymo's cache folder: what was found out about files, and copies of those that may vanish.
 *
 *	$XDG_CACHE_HOME/kymo/KIND/ab/cdef.../NAME	by sym/find/cache_key.h
 *
 *	file		index	names and lines of addresses asked before
 *			unwind	tables to walk stacks by
 *	content		elf	a copy of a file that may vanish
 *			about	the build-id and the path it had
 *	recording	copy	which of them a recording means
 *	kernel		...	of the running kernel
 *
 * Only what belongs to this user and nobody else can write is trusted. Files
 * are written beside their place and renamed, so a reader sees all or nothing;
 * a damaged or older index is ignored, and written anew.
 */
#pragma once

#include "sym/elf/elf.h"

/*
 * The folder as a descriptor, made (0700) when missing. path NULL: the user's.
 * -EPERM when it is not this user's own.
 */
int cache_open(const char *path, struct err *e);

/* -ENOENT, or -EPERM when it cannot be trusted. */
int cache_get(int cache, const struct cache_key *k, const char *name);

/* The same, mapped for reading: the caller's to unmap. */
int cache_map(int cache, const struct cache_key *k, const char *name, void **ret, size_t *size);

/* Write a small file from memory, in place of one that is there. */
int cache_write(int cache, const struct cache_key *k, const char *name, const void *data, size_t n,
		struct err *e);

/*
 * Keep a copy of what fd holds, up to *room bytes (-EFBIG), of which those are taken; nothing
 * is copied when the same is there. id: the file's own; of len 0, and it gets the one made for
 * the copy. *ret is the key of the copy ("elf").
 */
int cache_keep(int cache, const char *path, struct build_id *id, int fd, uint64_t *room,
	       struct cache_key *ret, struct err *e);
/* From now on the recording means this copy by path and id. */
int cache_note(int cache, const struct recording_id *r, const struct build_id *id, const char *path,
	       const struct cache_key *copy, struct err *e);
/*
 * The copy a recording means by path and id, or the one that id was made for; also in *ret,
 * which may be NULL. -errno when there is none.
 */
int cache_copy(int cache, const struct recording_id *r, const struct build_id *id, const char *path,
	       struct cache_key *ret);
/* Such a copy by the id that was made for it, in the user's own cache. */
int cache_kept(const struct build_id *id);
/* Each copy. fn's non-zero answer ends it. */
typedef int cache_fn(void *ctx, const struct build_id *id, const char *path);
int cache_each(int cache, cache_fn *fn, void *ctx);
/* All copies of a build-id. -ENOENT when there is none. */
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
