/* SPDX-License-Identifier: MIT */
/*
 * How much of a file's code its tables know: all of this program's; and nothing is said where
 * there is nothing to say. Programs without tables are in tests/cli/doctor.py. With paths: what
 * it says of each, for people.
 */
#include "sym/elf/cover.h"

#include <stdio.h>

#include "tap.h"

static int measure(const char *path, struct cover *c)
{
	struct ehframe *f = NULL;
	struct elf *e = NULL;
	int r = ehframe_open(path, &f, NULL);

	if (r == 0)
		r = elf_open_path(path, &e, NULL);
	if (r == 0)
		r = cover_measure(f, e, c);
	elf_free(e);
	ehframe_close(f);
	return r;
}

int main(int argc, char **argv)
{
	struct cover c = { .bytes = 7 };

	for (int i = 1; i < argc; i++)
		if (measure(argv[i], &c) == 0 && c.without > c.bytes / 20)
			printf("%3d%% %3d%% of %llu %s\n", (int)(100 * c.without / c.bytes),
			       (int)(100 * c.framed / c.bytes), (unsigned long long)c.bytes,
			       argv[i]);
	if (argc > 1)
		return 0;
	CHECK(measure("/dev/null", &c) < 0);
	CHECK_INT(c.bytes, 7);
	CHECK_INT(measure("/proc/self/exe", &c), 0);
	CHECK(c.bytes > 4096);
	CHECK(c.without < c.bytes / 10);
	CHECK(c.framed <= c.without);
	return tap_end();
}
