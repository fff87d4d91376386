/* SPDX-License-Identifier: MIT */
/* The head of a record in the kernel's trace ring buffer: 5 bits of type, 27 of time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RINGBUF_PADDING = 29, RINGBUF_EXTEND = 30, RINGBUF_STAMP = 31 };
#define RINGBUF_DELTA_BITS 27
#define RINGBUF_DELTA_MASK ((1u << RINGBUF_DELTA_BITS) - 1)
#define RINGBUF_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline void ringbuf_split(uint32_t word, bool big, uint32_t *type, uint32_t *delta)
{
	*type = big ? word >> RINGBUF_DELTA_BITS : word & 31;
	*delta = big ? word & RINGBUF_DELTA_MASK : word >> 5;
}

/* In this machine's order. */
static inline uint32_t ringbuf_join(uint32_t type, uint32_t delta)
{
	delta &= RINGBUF_DELTA_MASK;
	return RINGBUF_BIG_ENDIAN ? type << RINGBUF_DELTA_BITS | delta : delta << 5 | type;
}
