/* SPDX-License-Identifier: MIT */
#include "store/tracedat/ringbuf.h"

#include <byteswap.h>
#include <string.h>

#include "base/mem.h"
#include "event/type.h"
#include "store/tracedat/ringbuf_abi.h"

#define COMMIT_MASK ((1u << 27) - 1)
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)

#define STAMP_TOP (0x1full << 59) /* an absolute stamp has 59 bits */

void ringbuf_layout_default(struct ringbuf_layout *l)
{
	*l = (struct ringbuf_layout){ .commit_at = 8, .commit_size = 8, .data_at = 16 };
}

bool ringbuf_layout_parse(struct ringbuf_layout *l, const char *text, size_t n)
{
	struct event_type t = { .event = "header_page" };
	AUTO_FREE char *whole =
		mem_printf("name: header_page\nID: 1\nformat:\n%.*s\nprint fmt: \"\"\n",
			   (int)(n > 65536 ? 65536 : n), text);
	const struct field *commit, *data;
	struct arena a = { 0 };
	bool ok = false;

	if (type_parse_format(&t, &a, whole, strlen(whole), NULL) == 0) {
		commit = type_field(&t, "commit");
		data = type_field(&t, "data");
		ok = commit && data && (commit->size == 4 || commit->size == 8) &&
		     commit->offset >= 8 && commit->offset <= 64 &&
		     data->offset >= commit->offset + commit->size && data->offset <= 256;
		if (ok) {
			l->commit_at = commit->offset;
			l->commit_size = commit->size;
			l->data_at = data->offset;
		}
	}
	arena_free(&a);
	return ok;
}

static uint32_t ringbuf_u32(const struct ringbuf_layout *l, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return l->swap ? bswap_32(v) : v;
}

static uint64_t u64(const struct ringbuf_layout *l, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return l->swap ? bswap_64(v) : v;
}

static uint64_t commit_word(const struct ringbuf_layout *l, const uint8_t *page)
{
	return l->commit_size == 8 ? u64(l, page + l->commit_at)
				   : ringbuf_u32(l, page + l->commit_at);
}

/* The bytes in use of a page of size bytes, its header included; 0 when that makes no sense. */
static size_t ringbuf_used(const struct ringbuf_layout *l, const uint8_t *page, size_t size)
{
	uint64_t commit;

	if (size < l->data_at)
		return 0;
	commit = commit_word(l, page) & COMMIT_MASK;
	return commit > size - l->data_at ? 0 : l->data_at + commit;
}

bool ringbuf_start(struct ringbuf *r, const uint8_t *page, size_t size)
{
	const struct ringbuf_layout *l = &r->layout;
	size_t used = ringbuf_used(l, page, size);
	uint64_t word;

	r->page = page;
	r->at = used ? l->data_at : 0; /* nothing is read of a page that makes no sense */
	r->end = (uint32_t)used;
	r->fresh = true;
	r->bad = used == 0;
	if (!used)
		return false;
	r->time = u64(l, page);
	word = commit_word(l, page);
	if (word & MISSED_EVENTS) {
		r->missed = -1;
		/* how many stands behind the last record, when there was room */
		if (word & MISSED_STORED && size - used >= l->commit_size) {
			uint64_t n = l->commit_size == 8 ? u64(l, page + used)
							 : ringbuf_u32(l, page + used);

			r->missed = n && n <= INT64_MAX ? (int64_t)n : -1;
		}
	}
	return r->at < r->end;
}

bool ringbuf_next(struct ringbuf *r, struct ringbuf_record *ret)
{
	const struct ringbuf_layout *l = &r->layout;
	bool big = RINGBUF_BIG_ENDIAN != l->swap;

	while (r->end - r->at >= 4) {
		uint32_t head = ringbuf_u32(l, r->page + r->at), left = r->end - r->at - 4, type,
			 size, since;
		uint64_t delta;
		const uint8_t *p = r->page + r->at + 4;

		ret->head_at = r->at;
		ringbuf_split(head, big, &type, &since);
		delta = since;
		if (type == RINGBUF_PADDING && !delta) { /* nothing more on this page */
			r->at = r->end;
			return false;
		}
		if (type == 0 || type >= RINGBUF_PADDING) {
			if (left < 4)
				break;
			size = ringbuf_u32(l, p);
		} else {
			size = type * 4;
		}
		switch (type) {
		case RINGBUF_EXTEND:
		case RINGBUF_STAMP:
			delta += (uint64_t)size << RINGBUF_DELTA_BITS;
			r->time = type == RINGBUF_STAMP ? delta | (r->time & STAMP_TOP)
							: r->time + delta;
			r->at += 8;
			continue;
		case RINGBUF_PADDING:
			if (size > left || size < 4)
				goto damaged;
			r->time += delta;
			r->at += 4 + size;
			continue;
		case 0:
			/* its own four bytes count; records are padded to four */
			if (size < 4 || ((size + 3) & ~3u) > left)
				goto damaged;
			ret->data = p + 4;
			ret->size = size - 4;
			r->at += 4 + ((size + 3) & ~3u);
			break;
		default:
			if (size > left)
				goto damaged;
			ret->data = p;
			ret->size = size;
			r->at += 4 + size;
			break;
		}
		r->time += delta;
		ret->time = r->time;
		ret->missed = r->missed;
		ret->first = r->fresh;
		r->missed = 0;
		r->fresh = false;
		return true;
	}
	if (r->at == r->end)
		return false;
damaged:
	r->bad = true;
	r->at = r->end;
	return false;
}
