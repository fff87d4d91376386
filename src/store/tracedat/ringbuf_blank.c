/* SPDX-License-Identifier: MIT */
#include "store/tracedat/ringbuf_blank.h"

#include <stdbool.h>
#include <string.h>

#include "store/tracedat/ringbuf_abi.h"

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
