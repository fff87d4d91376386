/* SPDX-License-Identifier: MIT */
/*
 * manystacks N [DEPTH] [CHOICES] [PROCESSES]: N page faults, each in another
 * place of a random call graph of 64 functions, by so many processes in turn.
 *
 * Recorded with -e page-faults -c 1 -g they are N samples with chains in a
 * second or two. A function has CHOICES callees, the first the likeliest:
 * few choices make few distinct stacks, 8 and a DEPTH of 30 nearly all.
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 512u

static char *memory;
static size_t page, used;
static long todo, depth = 20, choices = 3;
static uint64_t seed = 88172645463325252u;

typedef void fn(long n);
static fn *const table[64];

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fault(void)
{
	if (used == PAGES) {
		madvise(memory, PAGES * page, MADV_DONTNEED);
		used = 0;
	}
	((volatile char *)memory)[used++ * page] = 1;
	todo--;
}

static inline __attribute__((always_inline)) void step(long n, uint64_t self)
{
	uint64_t k = 0, bits = next();

	if (todo <= 0)
		return;
	fault();
	while (k + 1 < (uint64_t)choices && !((bits >> 2 * k) & 3))
		k++;
	if (n && (bits >> 60) != 0)
		table[(self * 11 + 1 + k * 7) % 64](n - 1);
	__asm__ volatile("");
}

#define FN(i)                                                      \
	static __attribute__((noinline)) void function_##i(long n) \
	{                                                          \
		step(n, i);                                        \
	}
#define FN8(a) FN(a##0) FN(a##1) FN(a##2) FN(a##3) FN(a##4) FN(a##5) FN(a##6) FN(a##7)
#define T8(a)                                                                                \
	function_##a##0, function_##a##1, function_##a##2, function_##a##3, function_##a##4, \
		function_##a##5, function_##a##6, function_##a##7
FN8(00)
FN8(01)
FN8(02)
FN8(03)
FN8(04)
FN8(05)
FN8(06)
FN8(07)
static fn *const table[64] = { T8(00), T8(01), T8(02), T8(03), T8(04), T8(05), T8(06), T8(07) };

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000, processes = 1;

	if (argc > 2)
		depth = strtol(argv[2], NULL, 10);
	if (argc > 3)
		choices = strtol(argv[3], NULL, 10);
	if (argc > 4)
		processes = strtol(argv[4], NULL, 10);
	page = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED || n < 1 || depth < 0 || choices < 1 || processes < 1)
		return 2;
	madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < processes; i++) {
		pid_t pid = i + 1 < processes ? fork() : 0;

		seed += (uint64_t)i * 0x9e3779b97f4a7c15u;
		if (pid == 0) {
			for (todo = n / processes; todo > 0;)
				table[next() % 64](depth);
			return 0;
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	return 0;
}
