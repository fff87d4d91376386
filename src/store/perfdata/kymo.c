/* SPDX-License-Identifier: MIT */
/*
 * What kymo adds to perf.data, all of it passed over by perf: features that stand
 * before the data, so that a recording cut short has them, and the kernel symbols
 * that samples fell into. docs/perf-data.md describes both.
 */
#include "store/perfdata/impl.h"

#include "base/str.h"
#include "store/perfdata/kallsyms.h"

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

void kymo_kallsyms(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_KALLSYMS);
	AUTO_STRBUF text = { 0 };

	if (c.bad || c.p == c.end ||
	    perfdata_kallsyms_unpack(c.p, (size_t)(c.end - c.p), pd->swap, &text) < 0)
		return;
	pd->trace.info.kallsyms = arena_strndup(&pd->trace.arena, text.data, text.n);
	pd->trace.info.kallsyms_size = text.n;
}

void kymo_stacks(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_STACKS);

	pd->trace.info.walked = cursor_u32(&c) == PERFDATA_STACKS_WALKED;
}

/* How the recording ended, where its recorder knew. */
void kymo_ended(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_ENDED);
	uint32_t why = cursor_u32(&c);
	struct trace_losses *l = &pd->trace.losses;
	uint64_t lost;

	cursor_u32(&c);
	lost = cursor_u64(&c);
	if (c.bad)
		return;
	if (lost > l->lost_samples)
		l->lost_samples = lost;
	if (why) {
		l->cut = true;
		perfdata_note(pd, "the recording ended before it was to: %s", strerror((int)why));
	}
}
