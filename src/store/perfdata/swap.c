/* SPDX-License-Identifier: MIT */
/* Records written by a machine of the other endian. */
#include "store/perfdata/impl.h"
#include "store/perfdata/records.h"

/* MMAP2 with a build-id in place of the inode. */
static const char mmap2_build_id[] = "44888bbbbbbbbbbbbbbbbbbbbbbbb44s";

void swap_words(void *p, size_t bytes)
{
	uint8_t *at = p;

	/* A trailer is not aligned when the record's size makes no sense. */
	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t w;

		memcpy(&w, at + i, 8);
		w = bswap_64(w);
		memcpy(at + i, &w, 8);
	}
}

static void swap_one(uint8_t *p, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t t = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = t;
	}
}

void swap_record(struct perfdata_event_header *h, size_t tail)
{
	const char *shape = records_shape(h->type);
	uint8_t *p = (uint8_t *)(h + 1), *end = (uint8_t *)h + h->size;
	size_t size = 0;

	if (tail <= (size_t)(end - p)) {
		end -= tail;
		swap_words(end, tail);
	}
	if (h->type == PERF_RECORD_MMAP2 && (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		shape = mmap2_build_id;
	for (; *shape && *shape != 's'; shape += *shape != '*') {
		if (*shape != '*')
			size = *shape == 'b' ? 1 : (size_t)(*shape - '0');
		if (size > (size_t)(end - p))
			return;
		swap_one(p, size);
		p += size;
	}
	for (; h->type == PERFDATA_THREAD_MAP && end - p >= 24; p += 24)
		swap_one(p, 8); /* the name behind it is text */
}

static uint64_t reverse_bits(uint64_t v)
{
	uint64_t r = 0;

	for (int i = 0; i < 64; i++)
		r |= (v >> i & 1) << (63 - i);
	return r;
}

/* The flags are bitfields: numbered from the other end of the word. */
void swap_attr(struct perf_event_attr *a)
{
	uint64_t flags;
	uint8_t *bits = (uint8_t *)&a->read_format + sizeof(a->read_format);

	a->type = bswap_32(a->type);
	a->size = bswap_32(a->size);
	a->config = bswap_64(a->config);
	a->sample_period = bswap_64(a->sample_period);
	a->sample_type = bswap_64(a->sample_type);
	a->read_format = bswap_64(a->read_format);
	memcpy(&flags, bits, sizeof(flags));
	flags = reverse_bits(bswap_64(flags));
	/* precise_ip is two bits wide: its own bits come out in the wrong order. */
	flags = (flags & ~(3ull << 15)) | (flags >> 15 & 1) << 16 | (flags >> 16 & 1) << 15;
	memcpy(bits, &flags, sizeof(flags));
	a->wakeup_events = bswap_32(a->wakeup_events);
	a->bp_type = bswap_32(a->bp_type);
	a->bp_addr = bswap_64(a->bp_addr);
	a->bp_len = bswap_64(a->bp_len);
	a->branch_sample_type = bswap_64(a->branch_sample_type);
	a->sample_regs_user = bswap_64(a->sample_regs_user);
	a->sample_stack_user = bswap_32(a->sample_stack_user);
	a->clockid = (int32_t)bswap_32((uint32_t)a->clockid);
	a->sample_regs_intr = bswap_64(a->sample_regs_intr);
	a->aux_watermark = bswap_32(a->aux_watermark);
	a->sample_max_stack = bswap_16(a->sample_max_stack);
	a->aux_sample_size = bswap_32(a->aux_sample_size);
	a->sig_data = bswap_64(a->sig_data);
}

/* mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 type:4 spec:2 new_type:4 priv:3, from the top. */
uint64_t swap_branch_flags(uint64_t v)
{
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	unsigned from = 64, to = 0;
	uint64_t r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		from -= widths[i];
		r |= (v >> from & ((1ull << widths[i]) - 1)) << to;
		to += widths[i];
	}
	return r;
}
