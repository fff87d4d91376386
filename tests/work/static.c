/* SPDX-License-Identifier: MIT */
/*
 * Static probes (USDT) with known values, a variable to be watched, and functions to
 * be probed. Its notes are written out here, so that no package is needed for them.
 *
 *	static [TIMES]
 *
 * Each time: work:hit (a number, a text, a constant) at two places that keep their
 * arguments differently; work:guarded only when somebody looks (a semaphore); the
 * variable `watched` is written once; twice(n) is called and gives 2 n.
 */
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#	define INT "-4@%k"
#	define CONSTANT "-4@$7"
#else
#	define INT "-4@%w"
#	define CONSTANT "-4@7"
#endif

#define NOTE(name, sem, args)                        \
	"990: nop\n"                                 \
	".pushsection .note.stapsdt,\"\",\"note\"\n" \
	".balign 4\n"                                \
	".4byte 992f-991f, 994f-993f, 3\n"           \
	"991: .asciz \"stapsdt\"\n"                  \
	"992: .balign 4\n"                           \
	"993: .8byte 990b\n"                         \
	".8byte _.stapsdt.base\n"                    \
	".8byte " sem "\n"                           \
	".asciz \"work\"\n"                          \
	".asciz \"" name "\"\n"                      \
	".asciz \"" args "\"\n"                      \
	"994: .balign 4\n"                           \
	".popsection\n"

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base,1\n"
	".popsection\n");

unsigned short work_guarded_semaphore __attribute__((section(".probes"), used));
volatile unsigned long watched = 1;

long twice(long n);
__attribute__((noinline)) long twice(long n)
{
	__asm__ volatile("");
	return n * 2;
}

/* The same probe with its arguments in registers, and in memory. */
static void in_registers(int n, const char *text)
{
	__asm__ volatile(NOTE("hit", "0", INT "0 8@%1 " CONSTANT) : : "r"(n), "r"(text) : "memory");
}

static void in_memory(int n, const char *text)
{
	struct {
		int n;
		const char *text;
	} volatile kept = { n, text };

#if defined(__x86_64__)
	__asm__ volatile(NOTE("hit", "0", "-4@(%0) 8@8(%0) -4@$8")
			 :
			 : "r"(&kept), "m"(kept)
			 : "memory");
#else
	__asm__ volatile(NOTE("hit", "0", "-4@[%0] 8@[%0, 8] -4@8")
			 :
			 : "r"(&kept), "m"(kept)
			 : "memory");
#endif
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 3;
	char first[] = "first", second[] = "second"; /* in memory that is there */
	long sum = 0;
	int guarded = 0;

	for (int i = 1; i <= times; i++) {
		in_registers(i, first);
		in_memory(-i, second);
		if (*(volatile unsigned short *)&work_guarded_semaphore) {
			__asm__ volatile(NOTE("guarded", "work_guarded_semaphore", INT "0")
					 :
					 : "r"(i));
			guarded++;
		}
		watched = (unsigned long)i;
		sum += twice(i);
	}
	printf("%ld %d\n", sum, guarded);
	return 0;
}
