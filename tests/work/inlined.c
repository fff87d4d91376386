/* SPDX-License-Identifier: MIT */
/*
 * Burns CPU time in a function that is inlined into one that is inlined into main's callee, and in
 * one that is called by what was inlined.
 */
#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

static inline __attribute__((always_inline)) uint64_t inner_inlined(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static inline __attribute__((always_inline)) uint64_t middle_inlined(uint64_t x)
{
	return inner_inlined(x) ^ 1;
}

static __attribute__((noinline)) uint64_t outer_function(uint64_t x)
{
	x = middle_inlined(x);
	sink = x;
	return x;
}

static __attribute__((noinline)) uint64_t leaf_function(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005u + 1442695040888963409u;
	sink = x;
	return x;
}

static inline __attribute__((always_inline)) uint64_t calling_inlined(uint64_t x)
{
	return leaf_function(x) ^ 3;
}

static __attribute__((noinline)) uint64_t calling_function(uint64_t x)
{
	x = calling_inlined(x);
	sink = x;
	return x;
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
	uint64_t x = 1;

	while (cpu() < 0.15)
		x = calling_function(outer_function(x));
	return (int)(x & 0);
}
