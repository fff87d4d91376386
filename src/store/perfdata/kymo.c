/* SPDX-License-Identifier: MIT */
/*
 * What kymo adds to perf.data, all of it passed over by perf: features that stand
 * before the data, so that a recording cut short has them, and the kernel symbols
 * that samples fell into. docs/perf-data.md describes both.
 */
#include "store/perfdata/impl.h"

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
	uint64_t feature, offset, size;

	for (; n && cursor_take(c, "888", &feature, &offset, &size); n--)
		early_feature(pd, feature, offset, size);
}

/* The second: their contents follow the table in its order. */
static void early_2(struct perfdata *pd, struct cursor *c, uint64_t n)
{
	struct cursor at = *c, in;
	uint64_t offset, there;
	uint32_t feature, size;

	cursor_bytes(&at, n * sizeof(struct perfdata_early));
	for (; n && cursor_take(c, "44", &feature, &size); n--) {
		in = at;
		if (!cursor_bytes(&at, ((uint64_t)size + 3) & ~(uint64_t)3))
			return;
		if (!(feature & PERFDATA_EARLY_LATER))
			early_feature(pd, feature, (uint64_t)(in.p - pd->files.data[0].data), size);
		else if (cursor_take(&in, "88", &offset, &there))
			early_feature(pd, feature & ~PERFDATA_EARLY_LATER, offset, there);
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
	if (!cursor_take(&c, "88", &magic, &n) || n > ARRAY_SIZE(pd->feature))
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
	struct trace_losses *l = &pd->trace.losses;
	uint64_t lost;
	uint32_t why;

	if (!cursor_take(&c, "448", &why, NULL, &lost))
		return;
	if (lost > l->lost_samples)
		l->lost_samples = lost;
	if (why) {
		l->cut = true;
		perfdata_note(pd, "the recording ended before it was to: %s", strerror((int)why));
	}
}
