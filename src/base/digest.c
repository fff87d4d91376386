/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <stdbool.h>
#include <endian.h>
#include <string.h>

static const uint64_t start[8] = {
	0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
	0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u,
};

/* The order in which a round takes the words of a block; rounds 10 and 11 are 0 and 1 again. */
static const uint8_t order[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t turn(uint64_t x, unsigned by)
{
	return x >> by | x << (64 - by);
}

static void digest_mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
	*a += *b + x;
	*d = turn(*d ^ *a, 32);
	*c += *d;
	*b = turn(*b ^ *c, 24);
	*a += *b + y;
	*d = turn(*d ^ *a, 16);
	*c += *d;
	*b = turn(*b ^ *c, 63);
}

static uint64_t digest_word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static void digest_block(struct digest *d, const uint8_t *p, size_t n, bool last)
{
	uint64_t m[16], v[16];

	d->done += n;
	for (int i = 0; i < 16; i++)
		m[i] = digest_word(p + 8 * i);
	memcpy(v, d->state, sizeof(d->state));
	memcpy(v + 8, start, sizeof(start));
	v[12] ^= d->done;
	v[14] ^= last ? UINT64_MAX : 0;
	for (int r = 0; r < 12; r++) {
		const uint8_t *o = order[r % 10];

		for (int i = 0; i < 4; i++) /* columns */
			digest_mix(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[o[2 * i]],
				   m[o[2 * i + 1]]);
		for (int i = 0; i < 4; i++) /* diagonals */
			digest_mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4],
				   &v[12 + (i + 3) % 4], m[o[8 + 2 * i]], m[o[9 + 2 * i]]);
	}
	for (int i = 0; i < 8; i++)
		d->state[i] ^= v[i] ^ v[8 + i];
}

void digest_start(struct digest *d)
{
	*d = (struct digest){ 0 };
	memcpy(d->state, start, sizeof(start));
	d->state[0] ^= 0x01010000u | DIGEST_BYTES; /* without a key, one after the other */
}

void digest_add(struct digest *d, const void *data, size_t n)
{
	const uint8_t *p = data;

	/* the last block is another's: a full one waits until more comes */
	while (n) {
		size_t part = sizeof(d->block) - d->n;

		if (!part) {
			digest_block(d, d->block, sizeof(d->block), false);
			d->n = 0;
		} else if (!d->n && n > sizeof(d->block)) {
			digest_block(d, p, sizeof(d->block), false);
			p += sizeof(d->block);
			n -= sizeof(d->block);
		} else {
			part = part < n ? part : n;
			memcpy(d->block + d->n, p, part);
			d->n += part;
			p += part;
			n -= part;
		}
	}
}

void digest_end(struct digest *d, uint8_t ret[static DIGEST_BYTES])
{
	uint8_t out[sizeof(d->state)];

	memset(d->block + d->n, 0, sizeof(d->block) - d->n);
	digest_block(d, d->block, d->n, true);
	for (int i = 0; i < 8; i++) {
		uint64_t v = htole64(d->state[i]);

		memcpy(out + 8 * i, &v, 8);
	}
	memcpy(ret, out, DIGEST_BYTES);
}
