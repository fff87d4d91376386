/* SPDX-License-Identifier: MIT */
/*
 * Writing tar archives that any tar reads. Packed with zstd, each member is a frame
 * of its own: still an ordinary .tar.zst, but one whose members tar.h reaches one by one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tar_writer;

/* level 0: not packed. The file is made anew, 0600; "-" is stdout. On failure *ret is untouched. */
int tar_write_open(const char *path, int level, struct tar_writer **ret, struct err *e);
int tar_write_file(struct tar_writer *w, const char *name, const void *data, size_t n,
		   int64_t mtime, struct err *e);
int tar_write_link(struct tar_writer *w, const char *name, const char *target, struct err *e);
/* Ends the archive, and w. How many bytes it has, or -errno. */
int64_t tar_write_finish(struct tar_writer *w, struct err *e);
/* Ends w without it; the file is removed. NULL is fine. */
void tar_write_abandon(struct tar_writer *w);
