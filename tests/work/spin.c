/* SPDX-License-Identifier: MIT */
/*
 * spin N: run a fixed loop N times (default 1,000,000) and print nothing.
 *
 * The loop is two instructions per turn on x86_64 and aarch64, so that a test
 * of counters knows what it must count: 2 N instructions and a small constant.
 */
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) void spin(unsigned long turns)
{
#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#else
	while (turns--)
		__asm__ volatile("" : "+r"(turns));
#endif
}

int main(int argc, char **argv)
{
	char *end = "";
	unsigned long turns = argc > 1 ? strtoul(argv[1], &end, 10) : 1000000;

	if (argc > 2 || *end || !turns) {
		fprintf(stderr, "usage: spin [N], N > 0\n");
		return 2;
	}
	spin(turns);
	return 0;
}
