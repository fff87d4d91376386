/* SPDX-License-Identifier: MIT */
/*
 * Records of given threads taken out of a page: they become padding, as the kernel
 * itself makes of an event that a filter refused, so that every reader skips them and
 * all others keep their times.
 */
#ifndef KYMO_STORE_TRACEDAT_RINGBUF_BLANK_H
#define KYMO_STORE_TRACEDAT_RINGBUF_BLANK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/tracedat/ringbuf.h"

/*
 * Pages of this machine's endian. What an interrupt did while such a thread was
 * running is not its doing, and stays. How many records were taken out.
 */
size_t ringbuf_blank(const struct ringbuf_layout *l, uint8_t *page, size_t size, const pid_t *tids,
		     size_t n);

#endif
