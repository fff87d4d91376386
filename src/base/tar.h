/* SPDX-License-Identifier: MIT */
/*
 * tar archives, read in place: plain ones, and those packed with zstd.
 *
 * The file is mapped; nothing of a plain one is copied. tar_write.h packs each
 * member as a zstd frame of its own, and then only the members asked for are
 * unpacked; any other .tar.zst is unpacked as a whole.
 *
 * The file is untrusted. Sizes are checked against what is there, what unpacking
 * may yield is bounded, and names that lead out of the archive (absolute ones, "..")
 * are left out and counted. Names come without "./" in front. An archive that was cut
 * short gives its whole members and says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

enum tar_kind { TAR_FILE, TAR_LINK, TAR_FOLDER };

struct tar_member {
	const char *name;
	const char *link; /* where a TAR_LINK leads, as it stands there; else NULL */
	enum tar_kind kind;
	uint64_t size; /* of a TAR_FILE */
	int64_t mtime;
};

struct tar;

/* Does a file that begins with these n bytes (512 are enough) look like one? */
bool tar_looks_like(const void *start, size_t n);

/* fd is taken over, also on failure; name is for messages. On failure *ret is untouched. */
int tar_open_fd(int fd, const char *name, struct tar **ret, struct err *e);
/* data stays the caller's and must outlive it. */
int tar_open_memory(const void *data, size_t n, const char *name, struct tar **ret, struct err *e);
void tar_close(struct tar *t); /* NULL is fine */

size_t tar_count(const struct tar *t);
const struct tar_member *tar_at(const struct tar *t, size_t i);
/* The last one of that name; NULL when there is none. */
const struct tar_member *tar_find(const struct tar *t, const char *name);
/*
 * The bytes of a TAR_FILE; they live as long as t. NULL with e filled when they
 * cannot be unpacked. Several threads may ask at a time.
 */
const void *tar_data(struct tar *t, const struct tar_member *m, struct err *e);

/* Nobody needs them any more: what was unpacked is given back. */
void tar_drop(struct tar *t, const struct tar_member *m);
/* The archive's own file; false when it is in memory. */
bool tar_stat(const struct tar *t, struct stat *ret);

/* How many members were left out because of their names; was it cut short? */
size_t tar_refused(const struct tar *t);
bool tar_was_cut(const struct tar *t);

/* --- the header block, for its reader and its writer --- */

#define TAR_BLOCK 512u

struct tar_block {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
	char type, link[100];
	char magic[6], version[2];
	char user[32], group[32], major[8], minor[8];
	char prefix[155], padding[12];
};
_Static_assert(sizeof(struct tar_block) == TAR_BLOCK, "a block has 512 bytes");

static inline uint64_t tar_round(uint64_t n)
{
	return (n + TAR_BLOCK - 1) & ~(uint64_t)(TAR_BLOCK - 1);
}

/* Of all bytes, those of the sum itself counted as blanks. */
static inline uint32_t tar_sum(const struct tar_block *b)
{
	const uint8_t *p = (const uint8_t *)b;
	uint32_t sum = 8 * ' ';

	for (unsigned i = 0; i < TAR_BLOCK; i++)
		sum += p[i];
	for (unsigned i = 0; i < sizeof(b->sum); i++)
		sum -= (uint8_t)b->sum[i];
	return sum;
}
