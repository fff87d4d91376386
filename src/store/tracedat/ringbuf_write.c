/* SPDX-License-Identifier: MIT */
#include "store/tracedat/ringbuf_write.h"

#include <errno.h>
#include <string.h>
#include <stdbool.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/tracedat/ringbuf_abi.h"

#define MAX_SHORT 112u /* bytes of a record whose size fits its head */

void ringbuf_writer_init(struct ringbuf_writer *w, const struct ringbuf_layout *l,
			 uint32_t page_size, int fd)
{
	*w = (struct ringbuf_writer){ .layout = *l, .page_size = page_size, .fd = fd };
	w->page = mem_alloc(page_size);
}

static void put_u32(struct ringbuf_writer *w, uint32_t v)
{
	memcpy(w->page + w->at, &v, 4);
	w->at += 4;
}

static void ringbuf_write_flush(struct ringbuf_writer *w)
{
	uint64_t commit = w->at - w->layout.data_at;
	uint32_t half = (uint32_t)commit;
	int r;

	if (w->at <= w->layout.data_at)
		return;
	if (w->layout.commit_size == 8)
		memcpy(w->page + w->layout.commit_at, &commit, 8);
	else
		memcpy(w->page + w->layout.commit_at, &half, 4);
	r = file_write_all(w->fd, w->page, w->page_size);
	if (r < 0 && !w->error)
		w->error = -r;
	w->size += w->page_size;
	w->pages++;
	memset(w->page, 0, w->page_size);
	w->at = 0;
}

void ringbuf_writer_add(struct ringbuf_writer *w, uint64_t time, const void *data, uint32_t size)
{
	uint32_t padded = (size + 3) & ~3u;
	bool is_short = size && size == padded && size <= MAX_SHORT;
	uint32_t need = 4 + (is_short ? 0 : 4) + padded;
	uint64_t delta = time - w->time;

	if (need + 8 > w->page_size - w->layout.data_at)
		return; /* no page could hold it: it came from none */
	if (w->at && w->at + need + (delta >> RINGBUF_DELTA_BITS ? 8 : 0) > w->page_size)
		ringbuf_write_flush(w);
	if (!w->at) {
		memcpy(w->page, &time, 8);
		w->at = w->layout.data_at;
		delta = 0;
	}
	if (delta >> RINGBUF_DELTA_BITS) {
		put_u32(w, ringbuf_join(RINGBUF_EXTEND, (uint32_t)delta));
		put_u32(w, (uint32_t)(delta >> RINGBUF_DELTA_BITS));
		delta = 0;
	}
	put_u32(w, ringbuf_join(is_short ? size / 4 : 0, (uint32_t)delta));
	if (!is_short)
		put_u32(w, size + 4);
	memcpy(w->page + w->at, data, size);
	w->at += padded;
	w->time = time;
}

int ringbuf_writer_end(struct ringbuf_writer *w)
{
	ringbuf_write_flush(w);
	free(w->page);
	w->page = NULL;
	return -w->error;
}

/* --- records taken out --- */

/* What every event begins with. */
struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

/* of common_flags: in an interrupt, a softirq, an NMI */
#define IN_INTERRUPT (0x08 | 0x10 | 0x40)

static bool is_of(const struct ringbuf_record *r, const pid_t *tids, size_t n)
{
	struct common c;

	if (r->size < sizeof(c))
		return false;
	memcpy(&c, r->data, sizeof(c));
	if (c.flags & IN_INTERRUPT)
		return false;
	for (size_t i = 0; i < n; i++)
		if (c.pid == tids[i])
			return true;
	return false;
}

/* One nanosecond less where the time before a record comes from. */
static void borrow(uint8_t *page, const struct ringbuf_record *r, uint32_t before)
{
	uint32_t word, type, delta;
	uint64_t time;

	if (r->head_at - before == 8) {
		memcpy(&word, page + before, sizeof(word));
		ringbuf_split(word, RINGBUF_BIG_ENDIAN, &type, &delta);
		if (type == RINGBUF_EXTEND && delta) {
			word = ringbuf_join(type, delta - 1);
			memcpy(page + before, &word, sizeof(word));
			return;
		}
	}
	if (r->first) {
		memcpy(&time, page, sizeof(time));
		time--;
		memcpy(page, &time, sizeof(time));
	}
}

/*
 * Padding without a delta would end the page. The first record of a page has none, its
 * time being the page's, nor has one behind a long time: these may be shorter. Where
 * neither is, what follows comes a nanosecond later, as after the kernel's own.
 */
static void blank(uint8_t *page, const struct ringbuf_record *r, uint32_t before)
{
	uint8_t *head = page + r->head_at;
	uint32_t word, type, delta, size;

	memcpy(&word, head, sizeof(word));
	ringbuf_split(word, RINGBUF_BIG_ENDIAN, &type, &delta);
	if (!delta) {
		borrow(page, r, before);
		delta = 1;
	}
	/* a long record's head is followed by its size already */
	size = type * 4;
	if (size)
		memcpy(head + 4, &size, sizeof(size));
	word = ringbuf_join(RINGBUF_PADDING, delta);
	memcpy(head, &word, sizeof(word));
}

size_t ringbuf_blank(const struct ringbuf_layout *l, uint8_t *page, size_t size, const pid_t *tids,
		     size_t n)
{
	struct ringbuf at = { .layout = *l };
	struct ringbuf_record r;
	size_t done = 0;

	if (!n || !ringbuf_start(&at, page, size))
		return 0;
	for (uint32_t before = at.at; ringbuf_next(&at, &r); before = at.at)
		if (is_of(&r, tids, n)) {
			blank(page, &r, before);
			done++;
		}
	return done;
}
