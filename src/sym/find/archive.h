/* SPDX-License-Identifier: MIT */
/*
 * Files that come with a recording, in one tar archive (kymo archive makes it).
 *
 *	perf.data			the recording
 *	.build-id/ab/cdef...		a link to the folder of that build-id
 *	usr/bin/make/abcdef.../elf	a file, as perf's ~/.debug has it
 *	                       /debug	its debug file
 *	[vdso]/abcdef.../vdso
 *	[kernel.kallsyms]/abc.../kallsyms
 *	kymo/files/tmp/perf-12.map	what goes by its path: JIT maps, files without a build-id
 *
 * Unpacked into ~/.debug it serves perf too, and what perf archive packs is read as well.
 */
#pragma once

#include "base/str.h"
#include "base/tar.h"
#include "sym/elf/elf.h"

#define ARCHIVE_DATA "perf.data"
#define ARCHIVE_FILES "kymo/files"

/* name: "elf", "debug", "vdso", "kallsyms". NULL when it is not there; a may be NULL. */
const void *archive_by_id(struct tar *a, const struct build_id *id, const char *name, size_t *n);
const void *archive_by_path(struct tar *a, const char *path, size_t *n);

/* The folder of a build-id in the layout above, as "usr/bin/make/abcdef...". */
void archive_folder(struct strbuf *b, const char *path, const struct build_id *id);
/* ".build-id/ab/cdef..." */
void archive_link(struct strbuf *b, const struct build_id *id);
/* "kymo/files/PATH". False when the path cannot stand in an archive. */
bool archive_file(struct strbuf *b, const char *path);
