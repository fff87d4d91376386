/* SPDX-License-Identifier: MIT */
/* Records into pages of the kernel's layout, for parts of a recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/tracedat/ringbuf.h"
#include <sys/types.h>

struct ringbuf_writer {
	struct ringbuf_layout layout; /* of this machine's endian */
	uint32_t page_size;
	uint8_t *page; /* that is being filled */
	uint32_t at;
	uint64_t time; /* of the last record */
	int fd;
	uint64_t size; /* bytes written */
	uint64_t pages;
	int error; /* positive errno */
};

void ringbuf_writer_init(struct ringbuf_writer *w, const struct ringbuf_layout *l,
			 uint32_t page_size, int fd);
/* Times must not go back. */
void ringbuf_writer_add(struct ringbuf_writer *w, uint64_t time, const void *data, uint32_t size);
/* Write the page that is being filled. -errno when anything could not be written. */
int ringbuf_writer_end(struct ringbuf_writer *w);

/*
 * Records of given threads taken out of a page: they become padding, as the kernel
 * itself makes of an event that a filter refused, so that every reader skips them and
 * all others keep their times.
 */
/*
 * Pages of this machine's endian. What an interrupt did while such a thread was
 * running is not its doing, and stays. How many records were taken out.
 */
size_t ringbuf_blank(const struct ringbuf_layout *l, uint8_t *page, size_t size, const pid_t *tids,
		     size_t n);
