/* SPDX-License-Identifier: MIT */
/* Lines of /proc/kallsyms: those of kernels, of modules, of recordings, and none at all. */
#include <string.h>

#include "event/symline.h"
#include "tap.h"

/* "81000000 T _text []" */
static const char *line(struct symline *l, const char *text)
{
	static char buf[128];

	if (!symline_parse(l, text, text + strlen(text)))
		return "none";
	snprintf(buf, sizeof(buf), "%llx %c %.*s [%.*s]", (unsigned long long)l->addr, l->type,
		 (int)l->name_n, l->name, l->module ? (int)l->module_n : 0,
		 l->module ? l->module : "");
	return buf;
}

static void lines(void)
{
	struct symline l = { 0 };

	CHECK_STR(line(&l, "ffffffff81000000 T _text"), "ffffffff81000000 T _text []");
	CHECK_STR(line(&l, "ffffffff81000010 t a\t[mod]"), "ffffffff81000010 t a [mod]");
	CHECK(symline_is_named(&l));
	/* another beginning than the line before */
	CHECK_STR(line(&l, "FFFFffffc0000000 r table"), "ffffffffc0000000 r table []");
	CHECK(!symline_is_named(&l));
	CHECK_STR(line(&l, "ffffffffc0000001 t $x"), "ffffffffc0000001 t $x []");
	CHECK(!symline_is_named(&l));
	CHECK_STR(line(&l, "c0008000 t arm [mod]\r"), "c0008000 t arm [mod]");
	CHECK_STR(line(&l, "0000000000000000 T hidden"), "0 T hidden []");
	CHECK_STR(line(&l, "ffffffff81000200 - -"), "ffffffff81000200 - - []");
	CHECK_STR(line(&l, "ffffffff81000200 T"), "none");
	CHECK_STR(line(&l, "ffffffff81000200 T "), "none");
	CHECK_STR(line(&l, "1ffffffff81000200 T seventeen"), "none");
	CHECK_STR(line(&l, "ffffffffg1000200 T letter"), "none");
	CHECK_STR(line(&l, "no line"), "none");
	CHECK_STR(line(&l, ""), "none");
}

static void texts(void)
{
	static const char text[] = "10 T a\n\nnone\n20 t b\t[m]\n30 D c";
	const char *at = text, *end = text + sizeof(text) - 1;
	struct symline l = { 0 };

	CHECK(symline_next(&l, &at, end));
	CHECK_INT(l.addr, 0x10);
	CHECK(symline_next(&l, &at, end));
	CHECK_INT(l.addr, 0x20);
	CHECK_INT(l.module_n, 1);
	CHECK(symline_next(&l, &at, end));
	CHECK_INT(l.addr, 0x30);
	CHECK(!l.module);
	CHECK(!symline_next(&l, &at, end));
	CHECK_INT(symline_addr(text, end), 0x10);
	CHECK_INT(symline_addr(text + 8, end), 0);
}

int main(void)
{
	lines();
	texts();
	return tap_end();
}
