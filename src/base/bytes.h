/* SPDX-License-Identifier: MIT */
/*
 * Reading untrusted bytes in order. Going over the end gives zeros and sets
 * bad, so that a parser checks once behind a group of reads, not at each.
 */
#ifndef KYMO_BASE_BYTES_H
#define KYMO_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *p, *end;
	bool swap; /* the other byte order than this machine's */
	bool bad;
};

/* What is known to be there, in this machine's byte order. */
static inline uint32_t bytes_at32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}
static inline uint64_t bytes_at64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
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
static inline uint16_t bytes_u16(struct bytes *b)
{
	uint16_t v;

	if (bytes_left(b) < sizeof(v))
		return (uint16_t)bytes_fail(b);
	memcpy(&v, b->p, sizeof(v));
	b->p += sizeof(v);
	return b->swap ? __builtin_bswap16(v) : v;
}
static inline uint32_t bytes_u32(struct bytes *b)
{
	uint32_t v;

	if (bytes_left(b) < sizeof(v))
		return (uint32_t)bytes_fail(b);
	memcpy(&v, b->p, sizeof(v));
	b->p += sizeof(v);
	return b->swap ? __builtin_bswap32(v) : v;
}
static inline uint64_t bytes_u64(struct bytes *b)
{
	uint64_t v;

	if (bytes_left(b) < sizeof(v))
		return bytes_fail(b);
	memcpy(&v, b->p, sizeof(v));
	b->p += sizeof(v);
	return b->swap ? __builtin_bswap64(v) : v;
}
/* A number of 1, 2, 3, 4 or 8 bytes. */
static inline uint64_t bytes_uint(struct bytes *b, unsigned size)
{
	switch (size) {
	case 1: return bytes_u8(b);
	case 2: return bytes_u16(b);
	case 3: {
		uint32_t x = bytes_u8(b), y = bytes_u8(b), z = bytes_u8(b);
		bool big = b->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

		return big ? x << 16 | y << 8 | z : z << 16 | y << 8 | x;
	}
	case 4: return bytes_u32(b);
	case 8: return bytes_u64(b);
	default: return bytes_fail(b);
	}
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

#endif
