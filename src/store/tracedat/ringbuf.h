/* SPDX-License-Identifier: MIT */
/*
 * Pages of the kernel's trace ring buffer, as trace_pipe_raw and trace.dat have them.
 *
 * A page begins with a time stamp and the number of bytes committed; records follow,
 * each with the time since the one before. Pages are untrusted: a record that does
 * not fit its page ends the page, and is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where things are on a page; from the kernel's header_page. */
struct ringbuf_layout {
	uint32_t commit_at, commit_size, data_at;
	bool swap; /* the pages are of the other endian */
};

/* A 64-bit kernel of this endian. */
void ringbuf_layout_default(struct ringbuf_layout *l);
/* Reads the text of events/header_page; false leaves *l alone. */
bool ringbuf_layout_parse(struct ringbuf_layout *l, const char *text, size_t n);

struct ringbuf_record {
	uint64_t time;
	const uint8_t *data;
	uint32_t size;
	uint32_t head_at; /* where on the page its head stands */
	/* events lost just before this one: their number, -1 when it is not known, 0 none */
	int64_t missed;
	bool first; /* of its page */
};

struct ringbuf {
	struct ringbuf_layout layout;
	const uint8_t *page;
	uint32_t at, end;
	uint64_t time;
	int64_t missed; /* to be told with the next record */
	bool fresh;	/* no record of the page was handed out yet */
	bool bad;	/* the page was damaged */
};

/* Start on a page. False when its header makes no sense, or it is empty. */
bool ringbuf_start(struct ringbuf *r, const uint8_t *page, size_t size);
/* False at the end of the page. */
bool ringbuf_next(struct ringbuf *r, struct ringbuf_record *ret);
