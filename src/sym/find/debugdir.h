/* SPDX-License-Identifier: MIT */
/*
 * perf's folder of files by build-id: ~/.debug, or $PERF_BUILDID_DIR.
 *
 *	.build-id/ab/cdef...		a link to ../../usr/bin/make/abcdef...
 *	usr/bin/make/abcdef.../elf	the file
 *
 * Nothing here follows a link below the folder, and names come from archives and
 * recordings that are not trusted: none leads outside.
 */
#pragma once

#include "base/str.h"
#include "sym/elf/elf.h"

/* Beside what an archive brought: the recordings it is for, each a struct recording_id. */
#define DEBUGDIR_MARK "from-archive"

/* Where it is: path, or when NULL the user's. False when there is no home. */
bool debugdir_path(const char *path, struct strbuf *ret);
/* As a descriptor; make: with all that is missing of it. */
int debugdir_open(const char *path, bool make, struct err *e);

/* Anything below the folder, whose name is made of plain parts. 1: it was there, and stays. */
int debugdir_write(int dir, const char *name, const void *data, size_t n, struct err *e);
/* .build-id/ab/cdef... to a folder ("usr/bin/make/abcdef..."). 1: one was there, and stays. */
int debugdir_link(int dir, const struct build_id *id, const char *folder, struct err *e);

/*
 * A file under its build-id: where link is true and it can be done, a second name of the
 * same file, else a copy of it. name is "elf", "debug", "vdso", "kallsyms". 1: it was there.
 */
int debugdir_add(int dir, const char *shown, const struct build_id *id, const char *name, int fd,
		 bool link, struct err *e);
/* A small file beside it, in place of one that is there; shown as above. */
int debugdir_store(int dir, const char *shown, const struct build_id *id, const char *name,
		   const void *data, size_t n, struct err *e);
/* It, to read; or -errno. */
int debugdir_file(int dir, const struct build_id *id, const char *name);
/* The path it was added under ("/usr/bin/make", "[vdso]"). False when it is not there. */
bool debugdir_origin(int dir, const struct build_id *id, struct strbuf *ret);
/* Has it this file? */
bool debugdir_has(int dir, const struct build_id *id, const char *name);
/* All of a build-id. -ENOENT when there is nothing. */
int debugdir_remove(int dir, const struct build_id *id, struct err *e);

/* Each build-id, in order, with the path it was added under. fn's non-zero answer ends it. */
typedef int debugdir_fn(void *ctx, const struct build_id *id, const char *path);
int debugdir_each(int dir, debugdir_fn *fn, void *ctx);
