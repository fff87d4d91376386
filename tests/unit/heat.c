/* SPDX-License-Identifier: MIT */
/* Points into cells: every one is somewhere, edges are round, percentiles occurred. */
#include <math.h>

#include "calc/time/heat.h"
#include "store/text/points.h"
#include "tap.h"

static void add(struct heat_points *p, uint64_t time, uint64_t value)
{
	vec_push(&p->points,
		 (struct heat_point){ .time = time, .value = value, .label = STRTAB_NONE });
}

static uint64_t inside(const struct heat *h)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)h->columns * h->rows; i++)
		n += h->count[i];
	return n;
}

static void test_cells(void)
{
	struct heat_points p = { 0 };
	struct heat_opts o = { .columns = 10, .rows = 10, .linear = true };
	struct heat h;
	struct err e;

	for (uint64_t i = 0; i < 100; i++)
		add(&p, 1000 + i, i);
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(h.columns, 10);
	CHECK_INT(h.rows, 10);
	CHECK(h.edge[0] == 0 && h.edge[1] == 10 && h.edge[10] == 100);
	CHECK_INT(h.first, 1000);
	CHECK_INT(h.step, 10);
	CHECK_INT(inside(&h), 100);
	/* the diagonal has all of them */
	for (uint32_t i = 0; i < 10; i++)
		CHECK_INT(h.count[i * h.rows + i], 10);
	CHECK_INT(h.most, 10);
	CHECK_INT(h.percentile[0], 49);
	CHECK_INT(h.percentile[3], 98);
	CHECK_INT(h.percentile[5], 99);
	CHECK(h.min == 0 && h.max == 99 && h.mean == 49.5);
	heat_free(&h);
	/* bounds count what is outside */
	o.min = 20;
	o.max = 80;
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(h.low, 20);
	CHECK_INT(h.high, 19);
	CHECK_INT(inside(&h), 61);
	heat_free(&h);
	o.max = 10;
	CHECK_INT(heat_make(&p, &o, &h, &e), -EINVAL);
	o = (struct heat_opts){ .columns = 0, .rows = 5 };
	CHECK_INT(heat_make(&p, &o, &h, &e), -EINVAL);
	heat_points_free(&p);
}

static void test_log(void)
{
	struct heat_points p = { 0 };
	struct heat_opts o = { .columns = 4, .rows = 24 };
	struct heat h;
	struct err e;
	bool tens = true;

	/* 1 us to 10 s: 7 decades */
	for (uint64_t v = 1000; v <= 10000000000u; v *= 10)
		for (uint64_t k = 1; k < 10; k++)
			add(&p, k, v * k <= 10000000000u ? v * k : v);
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK(h.rows <= 24 && h.rows >= 14);
	CHECK_INT(inside(&h), p.points.n);
	for (double ten = 1e3; ten <= 1e10; ten *= 10) {
		bool is = false;

		for (uint32_t i = 0; i <= h.rows; i++)
			is = is || h.edge[i] == ten;
		tens = tens && is;
	}
	CHECK(tens);
	for (uint32_t i = 0; i < h.rows; i++) /* an edge belongs to the row above it */
		if (heat_row(&h, (uint64_t)ceil(h.edge[i])) != i) {
			CHECK_CASE(false, "row of edge %u", i);
			break;
		}
	heat_free(&h);
	/* zero is in the lowest row */
	add(&p, 1, 0);
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(inside(&h), p.points.n);
	heat_free(&h);
	heat_points_free(&p);
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(h.columns, 0);
	/* one point, and points at the end of what fits */
	add(&p, UINT64_MAX, UINT64_MAX);
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(inside(&h) + h.high, 1);
	heat_free(&h);
	add(&p, 0, 1);
	o.linear = true;
	CHECK_INT(heat_make(&p, &o, &h, &e), 0);
	CHECK_INT(inside(&h) + h.high + h.low, 2);
	heat_free(&h);
	heat_points_free(&p);
}

struct seen {
	int n;
	double time, value;
	char label[32];
};

static int see(void *ctx, const struct points_line *l, struct err *e)
{
	struct seen *s = ctx;

	(void)e;
	s->n++;
	s->time = l->time;
	s->value = l->value;
	snprintf(s->label, sizeof(s->label), "%.*s", (int)l->label_n, l->label);
	return 0;
}

static void test_read(void)
{
	static const char good[] = "# t v\n1.5 20\n\n 2.25,30, sd a \r\n3\t4e3\tx";
	static const struct {
		const char *text, *part;
	} bad[] = {
		{ "1 2\nx 3\n", "f:2: no time and value" },
		{ "1\n", "f:1: no time and value" },
		{ "1 -2\n", "f:1: a time or a value is negative" },
		{ "1 nan\n", "f:1: no time" },
		{ "1 inf\n", "f:1: no time" },
	};
	struct seen s = { 0 };
	struct err e;

	CHECK_INT(points_read("f", good, sizeof(good) - 1, see, &s, &e), 0);
	CHECK_INT(s.n, 3);
	CHECK(s.time == 3 && s.value == 4000);
	CHECK_STR(s.label, "x");
	CHECK_INT(points_read("f", good, 31, see, &s, &e), 0);
	CHECK_STR(s.label, "sd a");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_CASE(points_read("f", bad[i].text, strlen(bad[i].text), see, &s, &e) < 0 &&
				   strstr(e.msg, bad[i].part),
			   "refused: %s", bad[i].part);
}

int main(void)
{
	test_cells();
	test_log();
	test_read();
	return tap_end();
}
