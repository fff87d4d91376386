/* SPDX-License-Identifier: MIT */
/*
 * Writing protocol buffers: fields one after the other into memory, messages inside messages closed
 * when they are complete. Which field has which number is the caller's knowledge.
 *
 *	struct pb b = { 0 };
 *	size_t m = pb_begin(&b, 3);
 *	pb_uint(&b, 1, 42);
 *	pb_end(&b, m);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pb {
	uint8_t *data;
	size_t n, cap;
};

void pb_free(struct pb *b);
static inline void pb_reset(struct pb *b) /* empties, keeps the memory */
{
	b->n = 0;
}

/* uint32, uint64, bool, enum; also int32 and int64, whose negative numbers take ten bytes. */
void pb_uint(struct pb *b, unsigned field, uint64_t v);
static inline void pb_int(struct pb *b, unsigned field, int64_t v)
{
	pb_uint(b, field, (uint64_t)v);
}
void pb_double(struct pb *b, unsigned field, double v);
void pb_bytes(struct pb *b, unsigned field, const void *data, size_t n);
/* string: bytes that are not UTF-8 become U+FFFD. */
void pb_text(struct pb *b, unsigned field, const char *s, size_t n);
void pb_str(struct pb *b, unsigned field, const char *s);

/* A message, or a packed list: what pb_begin() gave goes to pb_end(). */
size_t pb_begin(struct pb *b, unsigned field);
void pb_end(struct pb *b, size_t begun);
/* A number of a packed list. */
void pb_varint(struct pb *b, uint64_t v);
/* Fields that were written elsewhere. */
void pb_raw(struct pb *b, const void *data, size_t n);
