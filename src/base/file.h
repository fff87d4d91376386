/* SPDX-License-Identifier: MIT */
/*
 * Small files whole, and directories in order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A file that an input names: a recording, an ELF file, debug info, a process that is watched.
 * Whoever wrote the input chose the name, so every such file is opened here and nowhere else
 * (scripts/layers looks). Only a regular file is opened at all: what the name leads to is looked
 * at before, since already the opening of a device does something (a watchdog begins to count, a
 * tape goes back) and that of a pipe lets its writer go on or waits for one. What the kernel makes
 * (/proc, /sys, tracefs) is no file either, though it looks like one: reading trace_pipe takes away
 * what somebody else waits for.
 *
 * Links are followed: packages make them, and what counts is the file they lead to. Who must
 * stay in a folder says so by resolve (RESOLVE_ of openat2), who wants no link at the end by
 * O_NOFOLLOW in flags. A descriptor for reading, or -errno: -ELOOP for such a link,
 * -EINVAL for anything else that is not regular. e may be NULL.
 */
int file_open_input(const char *path, struct err *e);
/* The same for what the user or kymo itself named: it may be the kernel's own (/proc/kcore). */
int file_open_named(const char *path, struct err *e);
int file_openat_input(int dir, const char *path, int flags, uint64_t resolve, struct err *e);
/* A path as it looks from a root, /proc/PID/root: no link, not even one to /, leads out of it. */
int file_open_below(const char *root, const char *path);
/* All of it, as file_read() does. */
int file_read_input(const char *path, size_t limit, char **ret, size_t *len);
/* The same of a descriptor, which is taken over; below 0 it is a failure, and returned. */
int file_read_fd(int fd, size_t limit, char **ret, size_t *len);

/*
 * Read up to limit bytes into a new NUL-terminated buffer the caller frees.
 * Works for /proc and /sys, whose files have no size. -errno on failure,
 * -EFBIG when there is more than limit. len may be NULL.
 */
int file_read(const char *path, size_t limit, char **ret, size_t *len);
int file_readat(int dir, const char *path, size_t limit, char **ret, size_t *len);
/* The same of a file of some megabytes, which is in huge pages then; about likely bytes come. */
int file_read_large(const char *path, size_t likely, size_t limit, char **ret, size_t *len);

/* The first line, without its newline, cut to size. -errno on failure. */
int file_line(const char *path, char *buf, size_t size);
/* The number the file starts with (decimal, or 0x...). */
int file_i64(const char *path, int64_t *ret);

bool file_exists(const char *path);

/* Make each folder of a path that is missing. Whether it is there then shows when it is opened. */
void file_make_folders(int dir, const char *path, unsigned mode);
/* All files in a folder go. */
void file_empty_folder(int folder);
/* A folder that is empty goes, and those above it up to dir. path is cut. -errno for another reason
 * than that it is not empty. */
int file_drop_folders(int dir, char *path);

/* Names in a directory, sorted, "." and ".." left out. Free with file_names_free. */
struct file_names {
	char **name;
	size_t n;
};
int file_list(const char *dir, struct file_names *ret);
void file_names_free(struct file_names *names);

/*
 * A file of our own in a folder of our own: data, or a copy of what from (-1: none) has, takes the
 * place of what is there. It is written beside its place and renamed: whoever looks sees all or
 * nothing. -errno.
 */
int file_replaceat(int dir, const char *path, int from, const void *data, size_t n, unsigned mode);
int file_replace(const char *path, const void *data, size_t n, unsigned mode);
/* Remove what was begun under this name; a device or pipe that the user named stays. */
void file_drop(const char *path);
/* Write all of it, through short writes and EINTR. -errno on failure. */
int file_write_all(int fd, const void *data, size_t n);
