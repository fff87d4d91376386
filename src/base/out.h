/* SPDX-License-Identifier: MIT */
/*
 * Fast text output: a large buffer, numbers without printf, one write a buffer.
 *
 * For commands that print millions of lines. The first write that fails is
 * remembered (out->error); everything after it is dropped. With patience (base/patience.h) what
 * a reader does not take in time is kept for the next time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct patience;

struct out {
	char *data;
	size_t n, cap;
	int fd; /* -1: keep everything, until taken from data */
	int error;
	uint32_t turn;			 /* how often it was emptied */
	const struct patience *patience; /* with who reads it; NULL: without end */
};

void out_init(struct out *o, int fd);
void out_flush(struct out *o);
void out_free(struct out *o); /* does not flush */
/* Everything that `from` kept follows what `to` has; `from` is empty then. */
void out_pass(struct out *to, struct out *from);

void out_make_room(struct out *o, size_t n);
/* Space for n more bytes; add what was used to o->n. */
static inline char *out_room(struct out *o, size_t n)
{
	if (__builtin_expect(o->cap - o->n < n, 0))
		out_make_room(o, n);
	return o->data + o->n;
}
static inline void out_add(struct out *o, const void *s, size_t n)
{
	memcpy(out_room(o, n), s, n);
	o->n += n;
}
static inline void out_putc(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->n++;
}
static inline void out_puts(struct out *o, const char *s)
{
	out_add(o, s, strlen(s));
}
void out_pad(struct out *o, size_t n); /* blanks */
/* Right-aligned in width, as %*llu, %*lld, %*llx would be. */
void out_u64(struct out *o, uint64_t v, unsigned width);
void out_i64(struct out *o, int64_t v, unsigned width);
void out_hex(struct out *o, uint64_t v, unsigned width);
/* With leading zeros up to width. */
void out_zeros(struct out *o, uint64_t v, unsigned width);
void out_right(struct out *o, const char *s, size_t width); /* %*s */
__attribute__((format(printf, 2, 3))) void out_printf(struct out *o, const char *fmt, ...);
