/* SPDX-License-Identifier: MIT */
/*
 * Reading untrusted bytes in order. Going over the end gives zeros and sets
 * bad, so that a parser checks once behind a group of reads, not at each.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *p, *end;
	bool swap; /* the other byte order than this machine's */
	bool bad;
};

/* A number of 1, 2, 4 or 8 bytes that are known to be there. */
static inline uint64_t bytes_at(const void *p, size_t size, bool swap)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 8: memcpy(&v8, p, 8); return swap ? __builtin_bswap64(v8) : v8;
	case 4: memcpy(&v4, p, 4); return swap ? __builtin_bswap32(v4) : v4;
	case 2: memcpy(&v2, p, 2); return swap ? __builtin_bswap16(v2) : v2;
	default: return *(const uint8_t *)p;
	}
}
static inline uint32_t bytes_at32(const void *p)
{
	return (uint32_t)bytes_at(p, 4, false);
}
static inline uint64_t bytes_at64(const void *p)
{
	return bytes_at(p, 8, false);
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->p);
}
static inline uint64_t bytes_fail(struct bytes *b)
{
	b->p = b->end;
	b->bad = true;
	return 0;
}
static inline void bytes_skip(struct bytes *b, uint64_t n)
{
	if (n > bytes_left(b))
		bytes_fail(b);
	else if (n) /* p may be NULL when there is nothing */
		b->p += n;
}
static inline uint8_t bytes_u8(struct bytes *b)
{
	return b->p < b->end ? *b->p++ : (uint8_t)bytes_fail(b);
}
static inline uint64_t bytes_fixed(struct bytes *b, size_t size)
{
	uint64_t v;

	if (bytes_left(b) < size)
		return bytes_fail(b);
	v = bytes_at(b->p, size, b->swap);
	b->p += size;
	return v;
}
static inline uint16_t bytes_u16(struct bytes *b)
{
	return (uint16_t)bytes_fixed(b, 2);
}
static inline uint32_t bytes_u32(struct bytes *b)
{
	return (uint32_t)bytes_fixed(b, 4);
}
static inline uint64_t bytes_u64(struct bytes *b)
{
	return bytes_fixed(b, 8);
}
/* A number of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t bytes_uint(struct bytes *b, unsigned size)
{
	if (size == 3) {
		uint32_t x = bytes_u8(b), y = bytes_u8(b), z = bytes_u8(b);
		bool big = b->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

		return big ? x << 16 | y << 8 | z : z << 16 | y << 8 | x;
	}
	return size == 1 || size == 2 || size == 4 || size == 8 ? bytes_fixed(b, size)
								: bytes_fail(b);
}
/* LEB128: groups of seven bits, low ones first. Padding beyond this is no number. */
#define BYTES_LEB_MAX 32
static inline uint64_t bytes_leb(struct bytes *b, bool is_signed)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 7 * BYTES_LEB_MAX;) {
		uint8_t c = *b->p++;

		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
		if (c & 0x80)
			continue;
		if (is_signed && shift < 64 && (c & 0x40))
			v |= ~(uint64_t)0 << shift;
		return v;
	}
	return bytes_fail(b);
}
static inline uint64_t bytes_uleb(struct bytes *b)
{
	/* most have one byte */
	return b->p < b->end && *b->p < 0x80 ? *b->p++ : bytes_leb(b, false);
}
static inline int64_t bytes_sleb(struct bytes *b)
{
	return (int64_t)bytes_leb(b, true);
}
/* A string with its NUL; "" when it does not end. */
static inline const char *bytes_str(struct bytes *b)
{
	const uint8_t *nul = b->p < b->end ? memchr(b->p, 0, bytes_left(b)) : NULL;
	const char *s = (const char *)b->p;

	if (!nul) {
		bytes_fail(b);
		return "";
	}
	b->p = nul + 1;
	return s;
}
