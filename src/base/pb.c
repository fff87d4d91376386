/* SPDX-License-Identifier: MIT */
#include "base/pb.h"

#include <endian.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"

#define VARINT 10 /* bytes of the longest */

enum wire { WIRE_VARINT, WIRE_FIXED64, WIRE_LEN };

void pb_free(struct pb *b)
{
	free(b->data);
	*b = (struct pb){ 0 };
}

static uint8_t *room(struct pb *b, size_t n)
{
	vec_reserve(b, b->n + n);
	return b->data + b->n;
}

static size_t pb_put(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

void pb_varint(struct pb *b, uint64_t v)
{
	b->n += pb_put(room(b, VARINT), v);
}

static void tag(struct pb *b, unsigned field, enum wire w)
{
	pb_varint(b, (uint64_t)field << 3 | w);
}

void pb_uint(struct pb *b, unsigned field, uint64_t v)
{
	tag(b, field, WIRE_VARINT);
	pb_varint(b, v);
}

void pb_raw(struct pb *b, const void *data, size_t n)
{
	if (n)
		memcpy(room(b, n), data, n);
	b->n += n;
}

void pb_double(struct pb *b, unsigned field, double v)
{
	uint64_t word;

	memcpy(&word, &v, 8);
	word = htole64(word);
	tag(b, field, WIRE_FIXED64);
	pb_raw(b, &word, 8);
}

void pb_bytes(struct pb *b, unsigned field, const void *data, size_t n)
{
	tag(b, field, WIRE_LEN);
	pb_varint(b, n);
	pb_raw(b, data, n);
}

void pb_text(struct pb *b, unsigned field, const char *s, size_t n)
{
	AUTO_STRBUF clean = { 0 };

	if (str_is_utf8(s, n)) {
		pb_bytes(b, field, s, n);
		return;
	}
	strbuf_utf8(&clean, s, n);
	pb_bytes(b, field, clean.data, clean.n);
}

void pb_str(struct pb *b, unsigned field, const char *s)
{
	pb_text(b, field, s, strlen(s));
}

size_t pb_begin(struct pb *b, unsigned field)
{
	tag(b, field, WIRE_LEN);
	room(b, 1);
	b->n++; /* for the length, if it is below 128: most are */
	return b->n;
}

void pb_end(struct pb *b, size_t begun)
{
	uint8_t len[VARINT];
	size_t n = b->n - begun, k = pb_put(len, n);

	if (k > 1) {
		room(b, k - 1);
		memmove(b->data + begun + k - 1, b->data + begun, n);
		b->n += k - 1;
	}
	memcpy(b->data + begun - 1, len, k);
}
