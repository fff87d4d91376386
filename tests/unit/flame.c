/* SPDX-License-Identifier: MIT */
/* The classic picture: exact rectangles, colours, text that cannot become markup. */
#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "tap.h"
#include "unfold.h"
#include "view/markup.h"
#include "view/picture/flame.h"
#include "view/picture/flame_html.h"

static struct calltree make_tree(const char *text, double min_share)
{
	struct calltree_opts o = { .type = CALLTREE_ALL_TYPES, .min_share = min_share };
	struct stacks side[2] = { 0 };
	struct folded_info info;
	struct calltree t = { 0 };
	struct err e = { 0 };

	CHECK_INT(unfold_text("f", text, strlen(text), side, &info, &e), 0);
	CHECK_INT(calltree_make(&side[0], info.two ? &side[1] : NULL, &o, &t, &e), 0);
	stacks_free(&side[0]);
	stacks_free(&side[1]);
	return t;
}

struct want {
	const char *name;
	double x, y, width;
};

static void rects_are(const struct calltree *t, const struct flame_svg_opts *o, double height,
		      const struct want *want, size_t n)
{
	struct flame_layout l;

	flame_svg_layout(t, o, &l);
	CHECK_CASE(l.height == height, "the picture is %g high (want %g)", l.height, height);
	CHECK_INT(l.rects.n, n);
	for (size_t i = 0; i < n && i < l.rects.n; i++) {
		const struct flame_rect *r = &l.rects.data[i];
		const char *name = calltree_name(t, t->nodes.data[r->node].func);

		CHECK_CASE(strcmp(name, want[i].name) == 0 && fabs(r->x - want[i].x) < 1e-9 &&
				   fabs(r->y - want[i].y) < 1e-9 &&
				   fabs(r->width - want[i].width) < 1e-9 &&
				   r->height == o->height - 1,
			   "%s at %g,%g wide %g (want %s %g,%g %g)", name, r->x, r->y, r->width,
			   want[i].name, want[i].x, want[i].y, want[i].width);
	}
	flame_layout_free(&l);
}

/* 118 samples in 1180 pixels: ten each. */
static void test_rectangles(void)
{
	struct calltree t = make_tree("a;b;c 20\na;b 10\na;d 30\ne 58\n", 0);
	struct flame_svg_opts o = FLAME_SVG_DEFAULTS;
	const struct want up[] = {
		{ "all", 10, 85, 1180 }, { "a", 10, 69, 600 },	{ "b", 10, 53, 300 },
		{ "c", 110, 37, 200 },	 { "d", 310, 53, 300 }, { "e", 610, 69, 580 },
	};
	const struct want down[] = {
		{ "all", 10, 36, 1180 }, { "a", 10, 52, 600 },	{ "b", 10, 68, 300 },
		{ "c", 110, 84, 200 },	 { "d", 310, 68, 300 }, { "e", 610, 52, 580 },
	};
	const struct want wide[] = {
		{ "all", 10, 71, 1180 }, { "a", 10, 51, 300 },	{ "b", 10, 31, 150 },
		{ "d", 160, 31, 150 },	 { "e", 310, 51, 290 },
	};

	rects_are(&t, &o, 134, up, ARRAY_SIZE(up));
	o.inverted = true;
	rects_are(&t, &o, 134, down, ARRAY_SIZE(down));
	/* half the picture for 118 of 236; c would be 100 pixels: too narrow */
	o.inverted = false;
	o.total = 236;
	o.height = 20;
	o.minwidth = 101;
	o.fontsize = 10;
	rects_are(&t, &o, 120, wide, ARRAY_SIZE(wide));
	calltree_free(&t);
}

static void test_compare(void)
{
	struct calltree t = make_tree("a;gone 10 0\na;new 0 5\na 10 5\n", 0);
	struct flame_svg_opts o = FLAME_SVG_DEFAULTS;
	const struct want both[] = {
		{ "all", 10, 69, 1180 },
		{ "a", 10, 53, 1180 },
		{ "gone", 600, 37, 295 },
		{ "new", 895, 37, 295 },
	};
	const struct want after[] = {
		{ "all", 10, 69, 1180 },
		{ "a", 10, 53, 1180 },
		{ "new", 600, 37, 590 },
	};
	const struct want before[] = {
		{ "all", 10, 69, 1180 },
		{ "a", 10, 53, 1180 },
		{ "gone", 600, 37, 590 },
	};

	o.compare = true;
	rects_are(&t, &o, 118, both, ARRAY_SIZE(both));
	o.widths = FLAME_AFTER;
	rects_are(&t, &o, 118, after, ARRAY_SIZE(after));
	o.widths = FLAME_BEFORE;
	rects_are(&t, &o, 118, before, ARRAY_SIZE(before));
	calltree_free(&t);
}

/* As WCAG has it: from 4.5 on, text can be read. */
static double contrast_with_black(struct flame_rgb c)
{
	const int part[3] = { c.r, c.g, c.b };
	const double share[3] = { 0.2126, 0.7152, 0.0722 };
	double light = 0;

	for (int i = 0; i < 3; i++) {
		double v = part[i] / 255.0;

		light += share[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
	}
	return (light + 0.05) / 0.05;
}

static void test_colors(void)
{
	struct flame_rgb c = flame_color_delta(0, false), d;

	CHECK(c.r == c.g && c.g == c.b);
	c = flame_color_delta(1, false);
	CHECK(c.r == 255 && c.g == c.b && c.g < 120);
	d = flame_color_delta(-1, true);
	CHECK(c.r == d.r && c.g == d.g);
	c = flame_color_delta(-0.5, false);
	CHECK(c.b == 255 && c.r == c.g && c.r > 100 && c.r < 245);
	CHECK(contrast_with_black(flame_color_delta(-1, false)) >= 4.5);
	CHECK(contrast_with_black(flame_color_delta(1, false)) >= 4.5);
	CHECK(flame_color_exists("hot") && flame_color_exists("chain") &&
	      !flame_color_exists("pink"));
	c = flame_color("hot", "malloc", FRAME_USER, false, false);
	d = flame_color("hot", "malloc", FRAME_USER, false, false);
	CHECK(c.r == d.r && c.g == d.g && c.b == d.b && c.r >= 205 && c.r <= 255 && c.b <= 55);
	/* java: kernel orange, JIT green, inlined aqua, C++ yellow, the rest red */
	c = flame_color("java", "read", FRAME_KERNEL, false, false);
	CHECK(c.b == 0 && c.r >= 190);
	c = flame_color("java", "x", FRAME_JIT, false, false);
	CHECK(c.g >= 200 && c.r < 120);
	c = flame_color("java", "x", FRAME_INLINED, false, false);
	CHECK(c.g >= 165 && c.g == c.b);
	c = flame_color("java", "a::b", FRAME_USER, false, false);
	CHECK(c.r >= 175 && c.r == c.g && c.b <= 70);
	c = flame_color("java", "x", FRAME_USER, false, false);
	CHECK(c.r >= 200 && c.g == c.b);
	c = flame_color("chain", "x_[w]", FRAME_USER, false, false);
	CHECK(c.g >= 165);
}

static void test_palette(void)
{
	static const char text[] = "a->rgb(1,2,3)\nx->y->rgb(4,5,6)\nbad->rgb(1,2,999)\nnothing\n";
	struct flame_palette p = { 0 };
	char *out = NULL;
	size_t n;
	FILE *f;

	flame_palette_read(&p, text, strlen(text));
	CHECK_INT(p.colors.n, 2);
	CHECK_INT(p.colors.data[strtab_find(&p.names, "x->y")].g, 5);
	f = open_memstream(&out, &n);
	flame_palette_write(&p, f);
	fclose(f);
	CHECK_STR(out, "a->rgb(1,2,3)\nx->y->rgb(4,5,6)\n");
	free(out);
	flame_palette_free(&p);
}

static void marked_up(const char *text, size_t n, const char *want)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	markup_textn(f, text, n);
	fclose(f);
	CHECK_STR(out, want);
	free(out);
}

static void test_markup(void)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	marked_up("</script><b a='x' b=\"y\">&", 25,
		  "&lt;/script&gt;&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
	marked_up("a\x1b[31mb\0c\x7f\n", 11, "a\\x1b[31mb\\x00c\\x7f\\x0a");
	marked_up("gr\xc3\xbc\xc3\x9f \xe2\x86\x92 \xf0\x9f\x94\xa5", 15,
		  "gr\xc3\xbc\xc3\x9f \xe2\x86\x92 \xf0\x9f\x94\xa5");
	marked_up("\xff\xc3(\xc0\xaf\xed\xa0\x80\xf5", 9,
		  "\\xff\\xc3(\\xc0\\xaf\\xed\\xa0\\x80\\xf5");
	marked_up("\xe2\x80\xae", 3, "\\xe2\\x80\\xae"); /* turns text around */
	marked_up("\xc2\x85", 2, "\\xc2\\x85");		 /* a C1 control */
	markup_comment(f, "a--b-> 2020-01-02 ---");
	fclose(f);
	CHECK(!strstr(out, "--"));
	CHECK(strstr(out, "2020-01-02") != NULL);
	free(out);
}

/* Names go in as text, whatever they hold, and an empty profile is a picture that says so. */
static void test_svg(void)
{
	struct calltree t = make_tree("a;</g><script>alert(1)</script>;]]> 5\n", 0);
	struct flame_svg_opts o = FLAME_SVG_DEFAULTS;
	struct err e = { 0 };
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);
	const char *frames;

	o.title = "<title> & more";
	o.nametype = "]]></script>";
	o.notes = "--> <b>";
	CHECK_INT(flame_svg_write(f, &t, &o, &e), 0);
	fclose(f);
	frames = strstr(out, "<g id=\"frames\">");
	CHECK(frames && !strstr(frames, "<script"));
	CHECK(strstr(out, "&lt;title&gt; &amp; more") != NULL);
	CHECK(!strstr(out, "--> <b>"));
	/* one script ends, and one CDATA section */
	CHECK(strstr(strstr(out, "</script>") + 1, "</script>") == NULL);
	CHECK(strstr(strstr(out, "]]>") + 1, "]]>") == NULL);
	CHECK(strstr(out, "(5 samples, 100.00%)") != NULL);
	free(out);
	calltree_free(&t);
	t = make_tree("", 0);
	f = open_memstream(&out, &n);
	CHECK_INT(flame_svg_write(f, &t, &(struct flame_svg_opts)FLAME_SVG_DEFAULTS, &e), 0);
	fclose(f);
	CHECK(strstr(out, "the profile is empty") != NULL);
	free(out);
	o.colors = "pink";
	CHECK_INT(flame_svg_check(&o, &e), -EINVAL);
	o.colors = "hot";
	o.bgcolors = "#12345";
	CHECK_INT(flame_svg_check(&o, &e), -EINVAL);
	o.bgcolors = "#123456";
	CHECK_INT(flame_svg_check(&o, &e), 0);
	calltree_free(&t);
}

/* A stack of one function. */
static uint32_t one_stack(struct stacks *s)
{
	uint32_t frame = stacks_frame(s, &(struct frame){ .name = strtab_add(&s->strings, "f"),
							  .module = STRTAB_NONE,
							  .file = STRTAB_NONE });

	return stacks_stack(s, &frame, 1);
}

/* How fine the times of a page are: finer than it needs for its strip, where seconds matter. */
static uint64_t time_step(uint64_t seconds, bool about_seconds)
{
	struct flame_html_opts o = { .title = "t",
				     .type = CALLTREE_ALL_TYPES,
				     .max_bytes = 5000000,
				     .seconds = about_seconds };
	struct flame_html_info info = { 0 };
	struct stacks s = { .unit = "samples" };
	struct err e = { 0 };
	uint32_t stack;
	FILE *f = fopen("/dev/null", "w");

	stack = one_stack(&s);
	for (uint64_t i = 0; i < seconds; i++)
		stacks_add(&s, &(struct stack_entry){ .stack = stack,
						      .comm = STRTAB_NONE,
						      .pid = 1,
						      .tid = 1,
						      .time = (i + 1) * 1000000000,
						      .count = 1,
						      .weight = 1 });
	CHECK_INT(flame_html_write(f, &s, NULL, &o, &info, &e), 0);
	fclose(f);
	stacks_free(&s);
	return info.time_step;
}

static void test_times(void)
{
	CHECK_INT(time_step(100, false), 10000000);
	CHECK_INT(time_step(400, false), 20000000);
	CHECK_INT(time_step(400, true), 20000000);
	CHECK(time_step(4000, false) > 20000000);
	CHECK_INT(time_step(4000, true), 20000000);
}

/* The first thread with the first event, the second with the second ...: each is kept. */
static void test_threads_like_events(void)
{
	struct flame_html_opts o = { .title = "t",
				     .type = CALLTREE_ALL_TYPES,
				     .max_bytes = 5000000 };
	struct flame_html_info info = { 0 };
	struct stacks s = { .unit = "samples" };
	struct err e = { 0 };
	uint32_t stack;
	FILE *f = fopen("/dev/null", "w");

	stack = one_stack(&s);
	for (uint32_t i = 0; i < 64; i++) {
		char name[16];

		snprintf(name, sizeof(name), "event%u", i);
		vec_push(&s.type_names, strtab_add(&s.strings, name));
		for (uint32_t cpu = i ? 1 : 0; cpu < 2; cpu++)
			stacks_add(&s, &(struct stack_entry){ .stack = stack,
							      .comm = STRTAB_NONE,
							      .type = i,
							      .pid = 1,
							      .tid = (int32_t)i + 1,
							      .cpu = cpu,
							      .time = 1000 + i,
							      .count = 1,
							      .weight = 1 });
	}
	CHECK_INT(flame_html_write(f, &s, NULL, &o, &info, &e), 0);
	fclose(f);
	stacks_free(&s);
}

int main(void)
{
	test_rectangles();
	test_compare();
	test_colors();
	test_palette();
	test_markup();
	test_svg();
	test_times();
	test_threads_like_events();
	return tap_end();
}
