/* SPDX-License-Identifier: MIT */
/*
 * Records written by a machine of the other endian.
 *
 * A record's fields are described as a string, one character a field: 2, 4 and 8
 * are integers of that size, b is a byte, s is text up to the trailer, * repeats
 * the field before it up to the trailer.
 */
#include "store/perfdata/impl.h"

static const char *const shapes[] = {
	[PERF_RECORD_MMAP] = "44888s",	      [PERF_RECORD_LOST] = "88",
	[PERF_RECORD_COMM] = "44s",	      [PERF_RECORD_EXIT] = "44448",
	[PERF_RECORD_THROTTLE] = "888",	      [PERF_RECORD_UNTHROTTLE] = "888",
	[PERF_RECORD_FORK] = "44448",	      [PERF_RECORD_READ] = "448*",
	[PERF_RECORD_MMAP2] = "44888448844s", [PERF_RECORD_AUX] = "888",
	[PERF_RECORD_ITRACE_START] = "44",    [PERF_RECORD_LOST_SAMPLES] = "8",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "44", [PERF_RECORD_NAMESPACES] = "4488*",
	[PERF_RECORD_KSYMBOL] = "8422s",      [PERF_RECORD_BPF_EVENT] = "224s",
	[PERF_RECORD_CGROUP] = "8s",	      [PERF_RECORD_TEXT_POKE] = "822s",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "8", [PERFDATA_HEADER_TRACING_DATA] = "4",
	[PERFDATA_ID_INDEX] = "8*",	      [PERFDATA_AUXTRACE_INFO] = "448*",
	[PERFDATA_AUXTRACE] = "8884444",      [PERFDATA_AUXTRACE_ERROR] = "44444488s",
	[PERFDATA_STAT_ROUND] = "88",	      [PERFDATA_EVENT_UPDATE] = "88s",
	[PERFDATA_TIME_CONV] = "888888",      [PERFDATA_HEADER_FEATURE] = "8s",
	[PERFDATA_COMPRESSED2] = "8s",	      [PERFDATA_THREAD_MAP] = "8",
	[PERFDATA_STAT_CONFIG] = "8*",	      [PERFDATA_STAT] = "844888",
};
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
	const char *shape = h->type < ARRAY_SIZE(shapes) ? shapes[h->type] : NULL;
	uint8_t *p = (uint8_t *)(h + 1), *end = (uint8_t *)h + h->size;
	size_t size = 0;

	if (tail <= (size_t)(end - p)) {
		end -= tail;
		swap_words(end, tail);
	}
	if (h->type == PERF_RECORD_MMAP2 && (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		shape = mmap2_build_id;
	for (; shape && *shape && *shape != 's'; shape += *shape != '*') {
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
