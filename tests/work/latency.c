/* SPDX-License-Identifier: MIT */
/*
 * A program that knows its latencies: it sleeps for known times and prints, a line
 * each, what it asked for and what it measured around the call, in ns. What a tracer
 * sees of a call is never less than the one and never more than the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 30;

	for (int i = 0; i < n; i++) {
		long ms = i % 15 == 14 ? 50 : i % 5 == 4 ? 10 : 1;
		struct timespec t = { .tv_nsec = ms * 1000000 };
		long long from = now();

		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		printf("%ld %lld\n", ms * 1000000, now() - from);
	}
	return 0;
}
