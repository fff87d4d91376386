/* SPDX-License-Identifier: MIT */
#include "live/capture/ring_records.h"

#include <string.h>

/* Complete the record that was cut; how many bytes of data belong to it. */
static size_t ring_records_complete(struct ring_records *p, const char *data, size_t n,
				    ring_records_fn *fn, void *ctx)
{
	struct perf_event_header h;
	size_t used = 0;

	if (p->cut.n < sizeof(h)) {
		used = sizeof(h) - p->cut.n < n ? sizeof(h) - p->cut.n : n;
		strbuf_add(&p->cut, data, used);
	}
	if (p->cut.n < sizeof(h))
		return used;
	memcpy(&h, p->cut.data, sizeof(h));
	if (h.size >= p->cut.n) {
		size_t more = h.size - p->cut.n < n - used ? h.size - p->cut.n : n - used;

		strbuf_add(&p->cut, data + used, more);
		used += more;
		if (p->cut.n < h.size)
			return used;
		fn(ctx, (const void *)p->cut.data);
	}
	strbuf_reset(&p->cut);
	return used;
}

void ring_records_each(struct ring_records *p, const void *data, size_t n, ring_records_fn *fn,
		       void *ctx)
{
	const char *at = data, *end = at + n;

	if (p->cut.n)
		at += ring_records_complete(p, at, n, fn, ctx);
	while (end - at >= (ptrdiff_t)sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)at;

		if (h->size < sizeof(*h) || h->size > end - at)
			break;
		fn(ctx, h);
		at += h->size;
	}
	if (at < end && !p->cut.n)
		strbuf_add(&p->cut, at, (size_t)(end - at));
}

void ring_records_free(struct ring_records *p)
{
	strbuf_free(&p->cut);
}
