/* SPDX-License-Identifier: MIT */
/* Any text as points: read, counted into cells, drawn. Every point must be somewhere. */
#include "fuzz.h"

#include "calc/time/heat.h"
#include "store/text/points.h"
#include "view/picture/heat.h"

static int add(void *ctx, const struct points_line *l, struct err *e)
{
	struct heat_points *p = ctx;

	(void)e;
	FUZZ_CHECK(l->time >= 0 && l->value >= 0);
	vec_push(&p->points,
		 (struct heat_point){
			 .time = l->time < 9e18 ? (uint64_t)l->time : UINT64_MAX,
			 .value = l->value < 9e18 ? (uint64_t)l->value : UINT64_MAX,
			 .label = l->label_n ? strtab_addn(&p->strings, l->label, l->label_n)
					     : STRTAB_NONE });
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heat_points p = { .unit = "ns" };
	struct heat_view_opts v = {
		.title = "fuzz", .width = 600, .height = 300, .max_bytes = 300000
	};
	struct heat_html_info info;
	struct err e;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	FUZZ_CHECK(f);
	points_read("fuzz", (const char *)data, size, add, &p, &e);
	for (int i = 0; i < 2; i++) {
		struct heat_opts o = { .columns = 20, .rows = 12, .linear = i };
		struct heat h;
		uint64_t sum = 0;

		FUZZ_CHECK(heat_make(&p, &o, &h, &e) == 0);
		for (size_t k = 0; k < (size_t)h.columns * h.rows; k++)
			sum += h.count[k];
		FUZZ_CHECK(sum + h.low + h.high == p.points.n);
		heat_text(f, &h, &p, &v);
		heat_svg_write(f, &h, &p, &v);
		heat_free(&h);
	}
	FUZZ_CHECK(heat_html_write(f, &p, &v, &info, &e) == 0);
	fclose(f);
	free(text);
	heat_points_free(&p);
	return 0;
}
