/* SPDX-License-Identifier: MIT */
/*
 * Unit tests in a line each: TAP on stdout, read by tests/run.
 *
 *	int main(void)
 *	{
 *		CHECK(1 + 1 == 2);
 *		CHECK_STR(name(x), "cycles:u");
 *		return tap_end();
 *	}
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_bad;

static inline bool tap_result(bool ok, const char *what, const char *file, int line)
{
	tap_n++;
	printf("%sok %d - %s\n", ok ? "" : "not ", tap_n, what);
	if (!ok) {
		tap_bad++;
		printf("# %s:%d\n", file, line);
	}
	return ok;
}

static inline void tap_str(const char *got, const char *want, const char *what, const char *file,
			   int line)
{
	bool ok = got == want || (got && want && strcmp(got, want) == 0);

	if (!tap_result(ok, what, file, line))
		printf("# got:  %s\n# want: %s\n", got ? got : "(null)", want ? want : "(null)");
}

static inline void tap_int(int64_t got, int64_t want, const char *what, const char *file, int line)
{
	if (!tap_result(got == want, what, file, line))
		printf("# got %" PRId64 " (0x%" PRIx64 "), want %" PRId64 " (0x%" PRIx64 ")\n", got,
		       got, want, want);
}

#define CHECK(cond) tap_result((cond), #cond, __FILE__, __LINE__)
#define CHECK_STR(got, want) tap_str((got), (want), #got, __FILE__, __LINE__)
#define CHECK_INT(got, want) tap_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
/* The same with a text that says which case of a table it is. */
#define CHECK_CASE(cond, ...)                                  \
	do {                                                   \
		char text_[256];                               \
		snprintf(text_, sizeof(text_), __VA_ARGS__);   \
		tap_result((cond), text_, __FILE__, __LINE__); \
	} while (0)
#define SKIP(why) printf("ok %d - skipped # SKIP %s\n", ++tap_n, (why))

static inline int tap_end(void)
{
	printf("1..%d\n", tap_n);
	return tap_bad ? 1 : 0;
}
