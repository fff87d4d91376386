/* SPDX-License-Identifier: MIT */
/*
 * What kymo adds to perf.data, all of it passed over by perf: features that stand
 * before the data, so that a recording cut short has them, and the kernel symbols
 * that samples fell into. docs/perf-data.md describes both.
 */
#include "store/perfdata_impl.h"

#include "config.h"
#if HAVE_ZSTD
#	include <zstd.h>
#endif

#define MAX_KALLSYMS (64u << 20)

/* of size 0: announced, but the recording never came to write it */
static void early_feature(struct perfdata *pd, uint64_t feature, uint64_t offset, uint64_t size)
{
	const struct perfdata_file *f = &pd->files.data[0];

	if (feature >= ARRAY_SIZE(pd->feature) || !size || offset > f->size ||
	    size > f->size - offset)
		return;
	pd->feature[feature] = (struct section){
		.data = f->data + offset, .size = (size_t)size, .position = offset, .present = true
	};
}

/* The first form: where each is stands in the table. */
static void early_1(struct perfdata *pd, struct cursor *c, uint64_t n)
{
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t feature = cursor_u64(c), offset = cursor_u64(c), size = cursor_u64(c);

		if (!c->bad)
			early_feature(pd, feature, offset, size);
	}
}

static void skip(struct cursor *c, uint64_t n)
{
	if (c->bad || n > (uint64_t)(c->end - c->p))
		c->bad = true;
	else
		c->p += n;
}

/* The second: their contents follow the table in its order. */
static void early_2(struct perfdata *pd, struct cursor *c, uint64_t n)
{
	const uint8_t *start = pd->files.data[0].data;
	struct cursor at = *c;

	skip(&at, n * sizeof(struct perfdata_early));
	for (uint64_t i = 0; i < n && !at.bad; i++) {
		uint32_t feature = cursor_u32(c), size = cursor_u32(c);
		struct cursor in = at;

		skip(&at, ((uint64_t)size + 3) & ~(uint64_t)3);
		if (at.bad)
			break;
		if (feature & PERFDATA_EARLY_LATER) {
			uint64_t offset = cursor_u64(&in), there = cursor_u64(&in);

			if (!in.bad)
				early_feature(pd, feature & ~PERFDATA_EARLY_LATER, offset, there);
		} else {
			early_feature(pd, feature, (uint64_t)(in.p - start), size);
		}
	}
}

void kymo_early(struct perfdata *pd)
{
	const struct perfdata_file *f = &pd->files.data[0];
	uint64_t at = pd->header.attrs.offset + pd->header.attrs.size;
	struct cursor c = { .swap = pd->swap };
	uint64_t magic, n;

	if (pd->pipe || at < pd->header.attrs.size || at > f->size)
		return;
	c.p = f->data + at;
	c.end = f->data + f->size;
	magic = cursor_u64(&c);
	n = cursor_u64(&c);
	if (c.bad || n > ARRAY_SIZE(pd->feature))
		return;
	if (magic == PERFDATA_EARLY_MAGIC)
		early_2(pd, &c, n);
	else if (magic == PERFDATA_EARLY_MAGIC_1)
		early_1(pd, &c, n);
}

/* The text, unpacked if need be; NULL when it makes no sense. */
static char *unpack(struct perfdata *pd, const uint8_t *data, size_t n, uint32_t packing,
		    uint64_t size)
{
	char *text;

	if (!size || size > MAX_KALLSYMS)
		return NULL;
	if (packing == 0)
		return size == n ? arena_strndup(&pd->trace.arena, (const char *)data, n) : NULL;
#if HAVE_ZSTD
	if (packing == 1) {
		text = arena_alloc(&pd->trace.arena, size + 1);
		return ZSTD_decompress(text, size, data, n) == size ? text : NULL;
	}
#endif
	(void)text;
	return NULL;
}

void kymo_kallsyms(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_KALLSYMS);
	uint32_t packing = cursor_u32(&c);
	uint64_t size;
	char *text;

	cursor_u32(&c);
	size = cursor_u64(&c);
	text = c.bad ? NULL : unpack(pd, c.p, (size_t)(c.end - c.p), packing, size);
	if (!text)
		return;
	pd->trace.info.kallsyms = text;
	pd->trace.info.kallsyms_size = (size_t)size;
}

void kymo_stacks(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_STACKS);

	pd->trace.info.walked = cursor_u32(&c) == PERFDATA_STACKS_WALKED;
}
