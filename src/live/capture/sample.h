/* SPDX-License-Identifier: MIT */
/* Records of samples that are made here, as the kernel would have written them. */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SAMPLE_MAX 65528u /* bytes of a record */
/* The fields in front of the chain. */
#define SAMPLE_HEAD                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)

/* Bytes of the header and these of those fields. */
static inline size_t sample_size(uint64_t fields)
{
	return sizeof(struct perf_event_header) + 8u * (size_t)__builtin_popcountll(fields);
}

struct sample_head {
	uint64_t id, ip, time, addr, period;
	int32_t pid, tid;
	uint32_t cpu;
};

static inline uint8_t *sample_put(uint8_t *p, const void *v, size_t n)
{
	if (n)
		memcpy(p, v, n);
	return p + n;
}

static inline uint8_t *sample_u64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

/* Those fields that type has, behind the place of the record's header. */
static inline uint8_t *sample_begin(uint8_t *start, uint64_t type, const struct sample_head *h)
{
	uint8_t *p = start + sizeof(struct perf_event_header);

	if (type & PERF_SAMPLE_IDENTIFIER)
		p = sample_u64(p, h->id);
	if (type & PERF_SAMPLE_IP)
		p = sample_u64(p, h->ip);
	if (type & PERF_SAMPLE_TID)
		p = sample_u64(p, (uint64_t)(uint32_t)h->tid << 32 | (uint32_t)h->pid);
	if (type & PERF_SAMPLE_TIME)
		p = sample_u64(p, h->time);
	if (type & PERF_SAMPLE_ADDR)
		p = sample_u64(p, h->addr);
	if (type & PERF_SAMPLE_ID)
		p = sample_u64(p, h->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		p = sample_u64(p, h->id);
	if (type & PERF_SAMPLE_CPU)
		p = sample_u64(p, h->cpu);
	if (type & PERF_SAMPLE_PERIOD)
		p = sample_u64(p, h->period);
	return p;
}

static inline uint8_t *sample_chain(uint8_t *p, const uint64_t *kernel, size_t n_kernel,
				    const uint64_t *user, size_t n_user)
{
	p = sample_u64(p, (n_kernel ? n_kernel + 1 : 0) + (n_user ? n_user + 1 : 0));
	if (n_kernel)
		p = sample_u64(p, (uint64_t)PERF_CONTEXT_KERNEL);
	p = sample_put(p, kernel, n_kernel * sizeof(*kernel));
	if (n_user)
		p = sample_u64(p, (uint64_t)PERF_CONTEXT_USER);
	return sample_put(p, user, n_user * sizeof(*user));
}

/* The header, when all behind it is there. Returns the size. */
static inline size_t sample_end(uint8_t *start, const uint8_t *p, uint16_t misc)
{
	struct perf_event_header h = { PERF_RECORD_SAMPLE, misc, (uint16_t)(p - start) };

	memcpy(start, &h, sizeof(h));
	return h.size;
}
