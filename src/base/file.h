/* SPDX-License-Identifier: MIT */
/*
 * Small files whole, and directories in order.
 */
#ifndef KYMO_BASE_FILE_H
#define KYMO_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void file_make_folders(const char *path, unsigned mode);

/* Names in a directory, sorted, "." and ".." left out. Free with file_names_free. */
struct file_names {
	char **name;
	size_t n;
};
int file_list(const char *dir, struct file_names *ret);
void file_names_free(struct file_names *names);

/*
 * A file for reading and writing that nobody sees under its name before file_publish(), so that
 * whoever is killed before then leaves nothing half done. Where that cannot be (another kind of
 * file is there, or the file system has no such files) it is opened as usual, and *hidden is
 * false. The descriptor or -errno.
 */
int file_open_hidden(const char *path, unsigned mode, bool *hidden);
/* A file in the folder of path that has no name before file_publish(). The descriptor or -errno. */
int file_open_nameless(const char *path, unsigned mode);
/* Give the file its name, in place of what has it now. */
int file_publish(int fd, const char *path);
/* A new file, never one that somebody else has put there. -errno. */
int file_open_new(const char *path, unsigned mode);
/* Remove what was begun under this name; a device or pipe that the user named stays. */
void file_drop(const char *path);
/* Write all of it, through short writes and EINTR. -errno on failure. */
int file_write_all(int fd, const void *data, size_t n);

#endif
