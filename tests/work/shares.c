/* SPDX-License-Identifier: MIT */
/*
 * shares TURNS: spend known shares of the time in known functions.
 *
 * All loops are the same two instructions (told apart by a comment, so that the
 * compiler does not make one function of them), so the turns each function makes are
 * its share of the samples: fifty 50%, thirty 30%, fifteen 15%, five 5%. Calls
 * are main -> outer -> each of them, but five, which is called by fifteen.
 */
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#	define LOOP(n, name) __asm__ volatile("1: dec %0\n\tjnz 1b # " name : "+r"(n) : : "cc")
#elif defined(__aarch64__)
#	define LOOP(n, name) \
		__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b // " name : "+r"(n) : : "cc")
#else
#	define LOOP(n, name) \
		while (--(n)) \
		__asm__ volatile("# " name : "+r"(n))
#endif

static __attribute__((noinline)) void fifty(unsigned long n)
{
	LOOP(n, "fifty");
}

static __attribute__((noinline)) void thirty(unsigned long n)
{
	LOOP(n, "thirty");
}

static __attribute__((noinline)) void five(unsigned long n)
{
	/* a frame of its own, as compilers leave it out where nothing is called */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	LOOP(n, "five");
}

static __attribute__((noinline)) void fifteen(unsigned long n)
{
	unsigned long own = n;

	LOOP(own, "fifteen");
	five(n / 3);
	__asm__ volatile(""); /* no tail call */
}

static __attribute__((noinline)) void outer(unsigned long hundredth)
{
	fifty(50 * hundredth);
	thirty(30 * hundredth);
	fifteen(15 * hundredth);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000000;

	/* in many small rounds, so that nothing the machine does meanwhile hits only one of them */
	for (int i = 0; i < 100; i++)
		outer(turns / 10000);
	printf("%lu\n", turns);
	return 0;
}
