/* SPDX-License-Identifier: MIT */
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>

#include "base/guard.h"
#include "base/patience.h"
#include "base/vec.h"

#define BUFFER (256u << 10)

void out_init(struct out *o, int fd)
{
	*o = (struct out){ .fd = fd, .cap = BUFFER };
	o->data = mem_grow(NULL, o->cap);
}

/* True: the reader has not taken all of it. */
static bool write_some(struct out *o)
{
	size_t done;
	int r = patience_write(o->patience, o->fd, o->data, o->n, &done);

	if (r == -EINTR) {
		memmove(o->data, o->data + done, o->n - done);
		o->n -= done;
		return true;
	}
	o->error = -r;
	return false;
}

void out_flush(struct out *o)
{
	if (o->fd < 0)
		return;
	if (o->n && !o->error && !o->patience)
		o->error = -guard_write(o->fd, o->data, o->n);
	else if (o->n && !o->error && write_some(o))
		return;
	o->n = 0;
	o->turn++;
}

void out_pass(struct out *to, struct out *from)
{
	if (to->fd < 0) {
		out_add(to, from->data, from->n);
	} else {
		out_flush(to);
		if (from->n && !to->error)
			to->error = -guard_write(to->fd, from->data, from->n);
	}
	from->n = 0;
	from->turn++;
}

void out_free(struct out *o)
{
	free(o->data);
	*o = (struct out){ .fd = -1 };
}

void out_make_room(struct out *o, size_t n)
{
	out_flush(o);
	vec_reserve(o, o->n + n);
}

void out_pad(struct out *o, size_t n)
{
	memset(out_room(o, n), ' ', n);
	o->n += n;
}

/* Digits into the end of buf; where they start. */
static char *digits(uint64_t v, char *end)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

static void put_right(struct out *o, const char *s, size_t n, size_t width, char fill)
{
	char *p = out_room(o, n > width ? n : width);
	size_t pad = n < width ? width - n : 0;

	memset(p, fill, pad);
	memcpy(p + pad, s, n);
	o->n += pad + n;
}

static void put_number(struct out *o, uint64_t v, unsigned width, char fill)
{
	char buf[24], *end = buf + sizeof(buf), *p = digits(v, end);

	put_right(o, p, (size_t)(end - p), width, fill);
}

void out_u64(struct out *o, uint64_t v, unsigned width)
{
	put_number(o, v, width, ' ');
}

void out_zeros(struct out *o, uint64_t v, unsigned width)
{
	put_number(o, v, width, '0');
}

void out_i64(struct out *o, int64_t v, unsigned width)
{
	char buf[24], *end = buf + sizeof(buf);
	char *p = digits(v < 0 ? -(uint64_t)v : (uint64_t)v, end);

	if (v < 0)
		*--p = '-';
	put_right(o, p, (size_t)(end - p), width, ' ');
}

void out_hex(struct out *o, uint64_t v, unsigned width)
{
	char buf[16], *end = buf + sizeof(buf), *p = end;

	do {
		*--p = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	put_right(o, p, (size_t)(end - p), width, ' ');
}

void out_right(struct out *o, const char *s, size_t width)
{
	put_right(o, s, strlen(s), width, ' ');
}

void out_printf(struct out *o, const char *fmt, ...)
{
	va_list ap, again;
	size_t left = o->cap - o->n;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(o->data + o->n, left, fmt, ap);
	if (n > 0 && (size_t)n >= left) {
		out_make_room(o, (size_t)n + 1);
		vsnprintf(o->data + o->n, (size_t)n + 1, fmt, again);
	}
	if (n > 0)
		o->n += (size_t)n;
	va_end(again);
	va_end(ap);
}
