/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

static int sum(void *ctx, unsigned v)
{
	*(unsigned *)ctx = *(unsigned *)ctx * 10 + v;
	return 0;
}

static int join(void *ctx, const char *part, size_t n)
{
	strbuf_add(ctx, part, n);
	strbuf_putc(ctx, '|');
	return 0;
}

static void buffers(void)
{
	AUTO_STRBUF b = { 0 };

	CHECK_STR(strbuf_str(&b), "");
	for (int i = 0; i < 100; i++)
		strbuf_printf(&b, "%d,", i % 10);
	CHECK_INT(b.n, 200);
	strbuf_reset(&b);
	CHECK_STR(strbuf_str(&b), "");
	str_split("a,bc,,d", ',', join, &b);
	CHECK_STR(strbuf_str(&b), "a|bc|d|");
}

static void csv_is(const char *s, size_t n, const char *separator, const char *want)
{
	AUTO_STRBUF b = { 0 };

	strbuf_csv(&b, s, n, separator);
	CHECK_STR(strbuf_str(&b), want);
}

static void csv(void)
{
	csv_is("", 0, ",", "");
	csv_is("main(int)", 9, ",", "main(int)");
	csv_is("a,b", 3, ",", "\"a,b\"");
	csv_is("a,b", 3, ";", "a,b");
	csv_is("a::b", 4, "::", "\"a::b\"");
	csv_is("\"a\"\n", 4, ",", "\"\"\"a\"\"\n\"");
	csv_is("a\xff,", 3, ",", "\"a\xef\xbf\xbd,\"");
}

static void nearness(void)
{
	struct str_nearest s = { .typed = "cycels" };
	char buf[100];

	CHECK_INT(str_distance("cycels", "cycles", 3), 1);
	CHECK_INT(str_distance("abc", "abd", 3), 1);
	CHECK_INT(str_distance("abc", "xyz", 2), 3);
	CHECK_INT(str_distance("", "ab", 2), 2);
	CHECK(!str_nearest_list(&s, buf, sizeof(buf)));
	str_nearest_add(&s, "bus-cycles");
	str_nearest_add(&s, "instructions");
	str_nearest_add(&s, "cycle");
	str_nearest_add(&s, "cycles");
	str_nearest_add(&s, "cycles");
	CHECK(str_nearest_list(&s, buf, sizeof(buf)));
	CHECK_STR(buf, "cycles or cycle");

	s = (struct str_nearest){ .typed = "foo" }; /* two of three letters wrong is another word */
	str_nearest_add(&s, "fr");
	CHECK(!str_nearest_list(&s, buf, sizeof(buf)));
	s.typed = "cnt"; /* but some write without vowels */
	str_nearest_add(&s, "count");
	CHECK(str_nearest_list(&s, buf, sizeof(buf)));
	CHECK_STR(buf, "count");

	s = (struct str_nearest){ .typed = "intervl" };
	str_nearest_add(&s, "interval-print");
	str_nearest_add(&s, "intersection-print");
	CHECK(str_nearest_list(&s, buf, sizeof(buf)));
	CHECK_STR(buf, "interval-print");
	str_nearest_add(&s, "internal");
	str_nearest_add(&s, "interval-count");
	CHECK(str_nearest_list(&s, buf, sizeof(buf)));
	CHECK_STR(buf, "internal");
}

static void numbers(void)
{
	uint64_t u = 7;
	int64_t i;
	double d;
	char buf[32];

	CHECK(str_u64("18446744073709551615", &u) && u == UINT64_MAX);
	CHECK(str_u64("0x1F", &u) && u == 31);
	CHECK(!str_u64("18446744073709551616", &u) && !str_u64("-1", &u) && !str_u64("", &u) &&
	      !str_u64("1x", &u));
	CHECK(str_i64("-9223372036854775808", &i) && i == INT64_MIN);
	CHECK(!str_i64("9223372036854775808", &i));
	CHECK(str_double("1.5", &d) && d == 1.5);
	CHECK(!str_double("x", &d) && !str_double("1.5z", &d));
	CHECK(str_size("64K", 1, &u) && u == 65536);
	CHECK(str_size("2GiB", 1, &u) && u == 2ull << 30);
	CHECK(str_size("8", 4096, &u) && u == 32768);
	CHECK(str_size("5B", 4096, &u) && u == 5);
	CHECK(!str_size("5X", 1, &u) && !str_size("K", 1, &u) && !str_size("99999999999E", 1, &u));
	CHECK(str_duration("1.5", 1000000000, &u) && u == 1500000000);
	CHECK(str_duration("20us", 1, &u) && u == 20000);
	CHECK(!str_duration("20 parsecs", 1, &u));
	CHECK_STR(str_thousands(0, buf, sizeof(buf)), "0");
	CHECK_STR(str_thousands(999, buf, sizeof(buf)), "999");
	CHECK_STR(str_thousands(1234567, buf, sizeof(buf)), "1,234,567");
	CHECK_STR(str_thousands(UINT64_MAX, buf, sizeof(buf)), "18,446,744,073,709,551,615");
	CHECK_STR(str_bytes(1536, buf, sizeof(buf)), "1.5 KiB");
	CHECK_STR(str_bytes(100, buf, sizeof(buf)), "100 B");
}

static void ranges(void)
{
	unsigned v = 0;

	CHECK_INT(str_ranges("0-2,7\n", 8, sum, &v), 0);
	CHECK_INT(v, 127);
	CHECK_INT(str_ranges("3-", 8, sum, &v), -EINVAL);
	CHECK_INT(str_ranges("", 8, sum, &v), -EINVAL);
	CHECK_INT(str_ranges("1,x", 8, sum, &v), -EINVAL);
	CHECK_INT(str_ranges("8", 8, sum, &v), -ERANGE);
	CHECK_INT(str_ranges("0-4294967297", 8, sum, &v), -ERANGE);
}

/* As printf() writes them, also where a value lies half way between two. */
static void fixed(void)
{
	static const double odd[] = { 0,      -0.0, 0.05,  0.15,  0.25,	       0.5,
				      1.5,    2.5,  0.005, 1.005, 99.995,      100,
				      999999, 1e13, -3.2,  1e300, 0.9999999999 };
	AUTO_STRBUF b = { 0 };
	unsigned wrong = 0;
	double v = 0;
	char want[400];

	for (unsigned i = 0; i < 40000; i++) {
		v = i < 17 ? odd[i] : i < 20000 ? i / 16.0 : v * 1.0007 + 0.0123;
		for (int digits = 0; digits < 4; digits++) {
			strbuf_reset(&b);
			strbuf_fixed(&b, v, digits);
			snprintf(want, sizeof(want), "%.*f", digits, v);
			if (strcmp(strbuf_str(&b), want) != 0 && !wrong++)
				printf("# %s is not %s\n", strbuf_str(&b), want);
		}
	}
	CHECK(!wrong);
}

static void shares(void)
{
	static const struct {
		double part, whole;
		const char *text;
	} list[] = { { 337, 1000, "33.7%" },	{ 0, 10, "0%" },
		     { 10, 10, "100%" },	{ 1, 1e6, "<0.1%" },
		     { 999999, 1e6, ">99.9%" }, { 1, 1000, "0.1%" },
		     { 998, 1000, "99.8%" },	{ 0, 0, "0%" },
		     { 12, 10, "100%" } };
	char buf[64];

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		CHECK_STR(str_percent(list[i].part, list[i].whole, buf, sizeof(buf)), list[i].text);
	CHECK_STR(str_count(0, "sample", buf, sizeof(buf)), "0 samples");
	CHECK_STR(str_count(1, "sample", buf, sizeof(buf)), "1 sample");
	CHECK_STR(str_count(1234, "different stack", buf, sizeof(buf)), "1,234 different stacks");
}

int main(void)
{
	fixed();
	shares();
	buffers();
	csv();
	nearness();
	numbers();
	ranges();
	CHECK(str_glob("sched_*", "sched_switch") && !str_glob("sched_*", "xsched_"));
	CHECK(str_ends("a.c", ".c") && !str_ends("c", ".c") && str_starts("abc", "ab"));
	return tap_end();
}
