/* SPDX-License-Identifier: MIT */
/*
 * Any text as perf script's: what is read has as many entries as samples, weights that sum
 * up, and frames that are inside the text; where what is written of it reads, the sum is the same.
 */
#include "fuzz.h"

#include <string.h>

#include "../unit/unfold.h"
#include "store/text/script_text.h"
#include "view/picture/folded.h"

struct text {
	const char *data;
	size_t n;
	uint64_t samples, lines;
};

static void inside(const struct text *t, struct text_part w)
{
	FUZZ_CHECK(!w.s || (w.s >= t->data && w.s + w.n <= t->data + t->n));
}

static int see(void *ctx, const struct script_sample *s, struct err *e)
{
	struct text *t = ctx;

	(void)e;
	FUZZ_CHECK(s->line > t->lines && s->comm.n && s->period <= INT64_MAX);
	inside(t, s->comm);
	inside(t, s->event);
	for (size_t i = 0; i < s->n; i++) {
		inside(t, s->frame[i].name);
		inside(t, s->frame[i].file);
	}
	t->lines = s->line;
	t->samples++;
	return 0;
}

static int64_t sum(const struct stacks *s)
{
	int64_t n = 0;

	vec_each (&s->entries, en)
		n += en->weight;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct folded_opts fo = { .type = FOLDED_ALL_TYPES, .tidy = true, .kernel = true };
	struct own_stacks_opts o = { .inlines = size & 1, .time_quantum = 1 };
	struct text t = { .data = (const char *)data, .n = size };
	struct stacks side[2] = { 0 }, again[2] = { 0 };
	struct trace_own info;
	struct folded_info second;
	struct err e;
	char *text = NULL;
	size_t n;
	FILE *f;
	int r;

	script_text_looks(t.data, size);
	r = script_text_read("fuzz", t.data, size, see, &t, &e);
	if (text_stacks(script_text_source, "fuzz", t.data, size, &o, side, &info, &e) == 0) {
		FUZZ_CHECK(r == 0 && side[0].entries.n == t.samples);
		FUZZ_CHECK(info.first_type < side[0].type_names.n);
		f = open_memstream(&text, &n);
		FUZZ_CHECK(f);
		FUZZ_CHECK(folded_write(f, &side[0], NULL, &fo, &e) == 0);
		fclose(f);
		/* names that end in numbers may make two counts of one, or one that is refused */
		if (unfold_text("again", text, n, again, &second, &e) == 0)
			FUZZ_CHECK(sum(&again[second.two]) == sum(&side[0]));
		free(text);
	}
	stacks_free(&side[0]);
	stacks_free(&again[0]);
	stacks_free(&again[1]);
	return 0;
}
