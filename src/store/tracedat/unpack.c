/* SPDX-License-Identifier: MIT */
/*
 * Compressed parts of version 7: sections in one block, pages in a list of them.
 * A small file cannot eat a machine: what may come out of a byte is bounded.
 */
#include "base/unpack.h"
#include "store/tracedat/impl.h"

#define MAX_RATIO 4096u

static bool unpack(const struct reader *r, const uint8_t *in, uint32_t packed, uint8_t *out,
		   uint32_t size)
{
	if (strcmp(r->t.compression, "zstd") == 0)
		return unpack_exactly(UNPACK_ZSTD, in, packed, out, size) == 0;
	if (strcmp(r->t.compression, "zlib") == 0)
		return unpack_exactly(UNPACK_ZLIB, in, packed, out, size) == 0;
	return false;
}

static bool too_much(struct reader *r, uint32_t packed, uint32_t size)
{
	struct err why;

	if (size > (uint64_t)packed * MAX_RATIO + 4096) {
		tracedat_note(r, "compressed data claims to be larger than it can be");
		return true;
	}
	r->budget.size = r->size;
	if (budget_take(&r->budget, size, "compressed data", &why) < 0) {
		tracedat_note(r, "%s (%s)", why.msg, why.hint);
		return true;
	}
	return false;
}

/* One block; NULL when it cannot be done. */
static const uint8_t *unpack_block(struct reader *r, const uint8_t *in, uint32_t packed,
				   uint32_t size)
{
	uint8_t *out;

	if (too_much(r, packed, size))
		return NULL;
	out = mem_grow(NULL, size ? size : 1);
	vec_push(&r->blocks, out);
	if (unpack(r, in, packed, out, size))
		return out;
	tracedat_note(r, "compressed data is damaged at byte %llu",
		      (unsigned long long)(in - r->data));
	return NULL;
}

struct cut reader_section(struct reader *r, uint64_t offset, uint16_t want)
{
	struct cut c = reader_cut(r, offset), inner;
	uint16_t id = cut_u16(&c), flags = cut_u16(&c);
	uint64_t size;

	cut_u32(&c); /* what it is, in words */
	size = cut_u64(&c);
	c.bad = c.bad || id != want;
	if (c.bad)
		return c;
	inner = c;
	/* one that was cut is read as far as it goes */
	if (size < (uint64_t)(c.end - c.p))
		inner.end = c.p + size;
	if (flags & TRACEDAT_COMPRESSED) {
		uint32_t packed = cut_u32(&c), unpacked = cut_u32(&c);
		const uint8_t *in = cut_bytes(&c, packed), *out;

		out = in ? unpack_block(r, in, packed, unpacked) : NULL;
		if (!out) {
			inner.bad = true;
			return inner;
		}
		inner.p = out;
		inner.end = out + unpacked;
	}
	return inner;
}

/* First how much there will be, so that it is one piece. */
static uint64_t unpacked_size(struct reader *r, struct cut c, uint32_t chunks, uint32_t *whole)
{
	uint64_t total = 0;

	*whole = 0;
	for (uint32_t i = 0; i < chunks; i++) {
		uint32_t packed = cut_u32(&c), size = cut_u32(&c);

		cut_bytes(&c, packed);
		if (c.bad || too_much(r, packed, size))
			break;
		total += size;
		++*whole;
	}
	if (*whole < chunks) {
		r->trace.losses.cut = true;
		tracedat_note(r, "the last pages of a CPU are missing");
	}
	return total;
}

void unpack_cpu(struct reader *r, struct tracedat_cpu *cpu)
{
	struct cut c = reader_cut(r, cpu->offset);
	uint32_t chunks, whole;
	uint64_t total, at = 0;
	uint8_t *out;

	/* the size does not count all of it: blocks end where their number says */
	chunks = cut_u32(&c);
	cpu->data = NULL;
	cpu->size = 0;
	if (c.bad || !chunks)
		return;
	total = unpacked_size(r, c, chunks, &whole);
	if (!total)
		return;
	out = mem_grow(NULL, total);
	vec_push(&r->blocks, out);
	for (uint32_t i = 0; i < whole; i++) {
		uint32_t packed = cut_u32(&c), size = cut_u32(&c);
		const uint8_t *in = cut_bytes(&c, packed);

		if (!in || !unpack(r, in, packed, out + at, size)) {
			r->trace.losses.bad_records++;
			tracedat_note(r, "compressed pages of CPU %u are damaged", cpu->cpu);
			break;
		}
		at += size;
	}
	cpu->data = out;
	cpu->size = at;
}
