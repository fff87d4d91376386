/* SPDX-License-Identifier: MIT */
/* The header block of tar, for its reader and its writer. */
#ifndef KYMO_BASE_TAR_BLOCK_H
#define KYMO_BASE_TAR_BLOCK_H

#include <stdint.h>

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

#endif
