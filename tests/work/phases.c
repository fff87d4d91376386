/* SPDX-License-Identifier: MIT */
/*
 * A workload with known phases, one after the other, in functions of their own:
 *
 *	phases MS
 *
 * in_first MS, in_second MS, in_pause (it sleeps) MS, in_first again MS; then four threads that
 * do a quarter of MS each, at the same time: in_third. Prints "NAME FROM TO" for each, ns of
 * CLOCK_MONOTONIC. A recorder of CPU time sees all but in_pause.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PART __attribute__((noinline, used))
#define NO_TAIL() __asm__ volatile("" ::: "memory")

static uint64_t ms;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Time on the clock, not work: what is measured is when. */
static inline __attribute__((always_inline)) void until(uint64_t end)
{
	while (now() < end)
		NO_TAIL();
}

PART void in_first(uint64_t end)
{
	until(end);
	NO_TAIL();
}

PART void in_second(uint64_t end)
{
	until(end);
	NO_TAIL();
}

PART void in_third(uint64_t end)
{
	until(end);
	NO_TAIL();
}

PART void in_pause(uint64_t end)
{
	struct timespec t = { (time_t)(end / 1000000000u), (long)(end % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
		;
	NO_TAIL();
}

static void phase(const char *name, void (*fn)(uint64_t end))
{
	uint64_t from = now();

	fn(from + ms * 1000000u);
	printf("%s %llu %llu\n", name, (unsigned long long)from, (unsigned long long)now());
	fflush(stdout);
}

static void *thread(void *arg)
{
	(void)arg;
	in_third(now() + ms * 250000u);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[4];

	ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
	phase("in_first", in_first);
	phase("in_second", in_second);
	phase("in_pause", in_pause);
	phase("in_first", in_first);
	if (argc < 3)
		return 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
