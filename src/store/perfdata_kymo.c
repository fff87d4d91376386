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

void kymo_early(struct perfdata *pd)
{
	const struct perfdata_file *f = &pd->files.data[0];
	uint64_t at = pd->header.attrs.offset + pd->header.attrs.size;
	struct cursor c = { .swap = pd->swap };
	uint64_t n;

	if (pd->pipe || at < pd->header.attrs.size || at > f->size)
		return;
	c.p = f->data + at;
	c.end = f->data + f->size;
	if (cursor_u64(&c) != PERFDATA_EARLY_MAGIC || c.bad)
		return;
	n = cursor_u64(&c);
	for (uint64_t i = 0; i < n && i < ARRAY_SIZE(pd->feature) && !c.bad; i++) {
		uint64_t feature = cursor_u64(&c), offset = cursor_u64(&c), size = cursor_u64(&c);

		/* of size 0: announced, but the recording never came to write it */
		if (c.bad || feature >= ARRAY_SIZE(pd->feature) || !size || offset > f->size ||
		    size > f->size - offset)
			continue;
		pd->feature[feature] = (struct section){ .data = f->data + offset,
							 .size = (size_t)size,
							 .position = offset,
							 .present = true };
	}
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
