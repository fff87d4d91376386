/* SPDX-License-Identifier: MIT */
/*
 * Any text as folded stacks: read, merged into trees, drawn, written again. What
 * was read must survive: sums agree, and the written text reads as the same sum.
 */
#include "fuzz.h"

#include <string.h>

#include "../unit/unfold.h"
#include "view/picture/flame.h"
#include "view/picture/flame_html.h"
#include "view/picture/folded.h"

static void draw(const struct stacks side[2], bool two)
{
	struct flame_svg_opts svg = FLAME_SVG_DEFAULTS;
	struct flame_html_opts html = { .title = "fuzz",
					.type = CALLTREE_ALL_TYPES,
					.max_bytes = 1 << 20 };
	struct flame_html_info info;
	struct calltree_opts o = { .type = CALLTREE_ALL_TYPES };
	struct err e;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	FUZZ_CHECK(f);
	for (int i = 0; i < 4; i++) {
		struct calltree t = { 0 };

		o.reverse = i == 1;
		o.collapse_recursion = i == 2;
		o.sort = i == 3 ? CALLTREE_BY_TIME : CALLTREE_BY_NAME;
		if (calltree_make(&side[0], two && i != 3 ? &side[1] : NULL, &o, &t, &e) < 0)
			continue;
		svg.compare = two && i != 3;
		FUZZ_CHECK(flame_svg_write(f, &t, &svg, &e) == 0);
		calltree_free(&t);
	}
	flame_html_write(f, &side[0], two ? &side[1] : NULL, &html, &info, &e);
	fclose(f);
	free(text);
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
	struct folded_opts o = {
		.type = FOLDED_ALL_TYPES, .kernel = true, .jit = true, .inlined = true
	};
	struct stacks side[2] = { 0 }, again[2] = { 0 };
	struct folded_info info, second;
	struct err e;
	char *text = NULL;
	size_t n;
	FILE *f;

	if (unfold_text("fuzz", (const char *)data, size, side, &info, &e) == 0) {
		draw(side, info.two);
		f = open_memstream(&text, &n);
		FUZZ_CHECK(f);
		FUZZ_CHECK(folded_write(f, &side[0], info.two ? &side[1] : NULL, &o, &e) == 0);
		fclose(f);
		/* a name that ends in a number may make two counts of one; the sum of the last
		 * stays */
		FUZZ_CHECK(unfold_text("again", text, n, again, &second, &e) == 0);
		FUZZ_CHECK(sum(&again[second.two]) == sum(&side[info.two]));
		free(text);
	}
	for (int i = 0; i < 2; i++) {
		stacks_free(&side[i]);
		stacks_free(&again[i]);
	}
	return 0;
}
