/* SPDX-License-Identifier: MIT */
/*
 * hotcode [N]: code whose hot places are known, for annotate and the report's views.
 *
 * main calls outer N times (default 3000); outer calls collatz (a loop with jumps
 * both ways), mixer (whose step is inlined twice) and memset. Every eighth time main
 * itself calls mixer, and chores, which keeps the kernel busy: so a report always has
 * rows of the kernel, and more rows than a terminal has lines. Two threads named
 * "worker" and "helper" call mixer alone, so that zooming has something to find.
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 15];
static unsigned long turns = 3000;
volatile unsigned hotcode_sink;

/* A leaf without a frame would hide its caller from chains by frame pointer. */
#define NEEDS_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static __attribute__((noinline)) unsigned collatz(unsigned x)
{
	unsigned steps = 0;

	NEEDS_FRAME();
	for (int i = 0; i < 100000; i++) {
		if (x & 1)
			x = x * 3 + 1;
		else
			x ^= x >> 3;
		steps += x & 7;
	}
	return steps;
}

static inline __attribute__((always_inline)) unsigned step(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ (x << 5);
}

static __attribute__((noinline)) unsigned mixer(unsigned x)
{
	NEEDS_FRAME();
	for (int i = 0; i < 10000; i++)
		x = step(step(x) + 1);
	return x;
}

static __attribute__((noinline)) unsigned outer(unsigned x)
{
	unsigned r = collatz(x) + mixer(x);

	memset(buffer, (int)x, sizeof(buffer));
	return r + (unsigned char)buffer[x % sizeof(buffer)];
}

static __attribute__((noinline)) unsigned chores(void)
{
	unsigned r = 0;

	for (int i = 0; i < 4; i++) {
		int fd = open("/proc/self/maps", O_RDONLY);

		while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
			r++;
		close(fd);
	}
	return r;
}

static void *thread(void *name)
{
	unsigned x = 1;

	pthread_setname_np(pthread_self(), name);
	for (unsigned long i = 0; i < turns; i++)
		x += mixer(x);
	hotcode_sink += x;
	return NULL;
}

int main(int argc, char **argv)
{
	static char worker[] = "worker", helper[] = "helper";
	pthread_t id[2];

	if (argc > 1)
		turns = strtoul(argv[1], NULL, 10);
	if (pthread_create(&id[0], NULL, thread, worker) ||
	    pthread_create(&id[1], NULL, thread, helper))
		return 1;
	for (unsigned long i = 0; i < turns; i++) {
		hotcode_sink += outer((unsigned)i);
		if (i % 8 == 0)
			hotcode_sink += mixer((unsigned)i) + chores();
	}
	pthread_join(id[0], NULL);
	pthread_join(id[1], NULL);
	return 0;
}
