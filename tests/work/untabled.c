/* SPDX-License-Identifier: MIT */
/*
 * untabled MS: burn the CPU for MS milliseconds in main -> outer -> middle -> inner, of which no
 * unwinding table tells; 0: wait there until the input ends. Built as "framed" it keeps frame
 * pointers, as "untabled" it does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

__attribute__((noinline)) static unsigned inner(unsigned n)
{
	volatile unsigned x = n;

	for (unsigned i = 0; i < 100000; i++)
		x = x * 3 + i;
	return x;
}

__attribute__((noinline)) static unsigned middle(unsigned n)
{
	return inner(n) + inner(n + 1) * 5;
}

__attribute__((noinline)) static unsigned outer(unsigned ms)
{
	double end = now_ms() + ms;
	unsigned x = 0;
	char c;

	while (ms ? now_ms() < end : read(STDIN_FILENO, &c, 1) > 0)
		x += middle(x) + 1;
	return x;
}

int main(int argc, char **argv)
{
	printf("go\n");
	fflush(stdout);
	return outer(argc > 1 ? (unsigned)atoi(argv[1]) : 0) == 7;
}
