/* SPDX-License-Identifier: MIT */
#include "live/capture/ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "kern/cpu.h"
#include "kern/perf.h"
#include "live/about/mapped_ids.h"

int ring_open(struct ring *r, int fd, size_t size, bool backward, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = page;
	void *base;

	while (n < size)
		n *= 2;
	/* the kernel overwrites what user space cannot write to */
	base = mmap(NULL, page + n, PROT_READ | (backward ? 0 : PROT_WRITE), MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return err_set(e, errno, "cannot map a ring of %zu KiB: %s", n >> 10,
			       strerror(errno));
	*r = (struct ring){
		.base = base, .size = n, .mask = n - 1, .fd = fd, .backward = backward
	};
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->base)
		munmap(r->base, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	r->base = NULL;
}

static const uint8_t *data_of(const struct ring *r)
{
	const struct perf_event_mmap_page *p = r->base;

	return (const uint8_t *)r->base +
	       (p->data_offset ? p->data_offset : (size_t)sysconf(_SC_PAGESIZE));
}

static int ring_hand_out(const struct ring *r, uint64_t from, uint64_t n, ring_fn *fn, void *ctx,
			 struct err *e)
{
	const uint8_t *data = data_of(r);
	size_t start = (size_t)(from & r->mask);
	size_t first = n < r->size - start ? (size_t)n : r->size - start;
	int code = fn(ctx, data + start, first, e);

	if (code >= 0 && first < n)
		code = fn(ctx, data, (size_t)n - first, e);
	return code;
}

uint64_t ring_waiting(const struct ring *r, uint64_t *head)
{
	const struct perf_event_mmap_page *p = r->base;

	*head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE);
	return *head - p->data_tail;
}

int64_t ring_drain(struct ring *r, ring_fn *fn, void *ctx, struct err *e)
{
	uint64_t head;

	ring_waiting(r, &head);
	return ring_drain_to(r, head, fn, ctx, e);
}

/* Copy out of a ring, across its end. */
static void copy_out(const struct ring *r, uint64_t at, void *to, size_t n)
{
	size_t start = (size_t)(at & r->mask), first = n < r->size - start ? n : r->size - start;

	memcpy(to, data_of(r) + start, first);
	memcpy((uint8_t *)to + first, data_of(r), n - first);
}

/* The header of the record at a position, which may wrap. */
static struct perf_event_header header_at(const struct ring *r, uint64_t at)
{
	struct perf_event_header h;

	copy_out(r, at, &h, sizeof(h));
	return h;
}

/* The kernel lets nobody write into a ring: what is edited is a copy, a piece of its own. */
static int hand_out_edited(const struct ring *r, uint64_t from, uint64_t to, ring_fn *fn, void *ctx,
			   struct err *e)
{
	_Alignas(8) uint8_t whole[2 * 4096]; /* a path and what goes with it */
	uint64_t done = from;
	int code = 0;

	for (uint64_t at = from; code >= 0 && to - at >= sizeof(struct perf_event_header);) {
		struct perf_event_header h = header_at(r, at);

		if (h.size < sizeof(h) || h.size > to - at)
			break;
		if (h.type == PERF_RECORD_MMAP2 && h.size <= sizeof(whole)) {
			copy_out(r, at, whole, h.size);
			mapped_ids_give(r->ids, (void *)whole);
			if (at > done)
				code = ring_hand_out(r, done, at - done, fn, ctx, e);
			if (code >= 0)
				code = fn(ctx, whole, h.size, e);
			done = at + h.size;
		}
		at += h.size;
	}
	return code >= 0 && done < to ? ring_hand_out(r, done, to - done, fn, ctx, e) : code;
}

int64_t ring_drain_to(struct ring *r, uint64_t head, ring_fn *fn, void *ctx, struct err *e)
{
	struct perf_event_mmap_page *p = r->base;
	uint64_t tail = p->data_tail;
	int code;

	if (head == tail)
		return 0;
	code = r->ids ? hand_out_edited(r, tail, head, fn, ctx, e)
		      : ring_hand_out(r, tail, head - tail, fn, ctx, e);
	if (code < 0)
		return code;
	__atomic_store_n(&p->data_tail, head, __ATOMIC_RELEASE);
	return (int64_t)(head - tail);
}

/* The kernel writes downwards from 0: the newest record is at the head, older ones above it. */
int64_t ring_snapshot(struct ring *r, ring_fn *fn, void *ctx, struct err *e)
{
	struct perf_event_mmap_page *p = r->base;
	uint64_t head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE), at = head;
	uint64_t there = r->seen - head; /* bytes written since */
	int code;

	if (there > r->size) {
		/* the oldest ones are gone: up to the one that reaches into what replaced them */
		there = r->size;
		while (at - head < there) {
			struct perf_event_header h = header_at(r, at);

			if (h.size < sizeof(h) || at - head + h.size > there)
				break;
			at += h.size;
		}
	} else {
		at = head + there;
	}
	r->seen = head;
	if (at == head)
		return 0;
	code = ring_hand_out(r, head, at - head, fn, ctx, e);
	return code < 0 ? code : (int64_t)(at - head);
}

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

#define RING_BYTES (256u << 10)

int side_rings_open(struct side_rings *s, struct perf_event_attr a, pid_t pid, struct err *e)
{
	struct cpus online = { 0 };
	int r = cpus_online(&online, e);

	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = SIDE_RINGS_SAMPLE;
	a.sample_id_all = a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	s->ring = mem_alloc((online.n + 1) * sizeof(*s->ring));
	for (size_t i = 0; i < online.n && r == 0; i++) {
		int fd = perf_open(&a, pid, online.cpu[i], -1, PERF_FLAG_FD_CLOEXEC);

		r = fd < 0 ? err_set(e, -fd, "cannot follow processes: %s", strerror(-fd))
			   : ring_open(&s->ring[s->n], fd, RING_BYTES, false, e);
		if (r == 0)
			s->n++;
		else if (fd >= 0)
			close(fd);
	}
	cpus_free(&online);
	return r;
}

void side_rings_close(struct side_rings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int fd = s->ring[i].fd;

		ring_close(&s->ring[i]);
		close(fd);
	}
	free(s->ring);
	*s = (struct side_rings){ 0 };
}
