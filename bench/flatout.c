/* SPDX-License-Identifier: MIT */
/*
 * flatout THREADS MS [RATE]: make getppid system calls for MS milliseconds, as fast as
 * they go or RATE a second in all, and print how many were made.
 *
 * Nothing else here makes that call, so a recording of it must hold as many events.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int over;
static long total;
static double pause_ns; /* between two calls of a thread */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *work(void *unused)
{
	double next = now();
	long n = 0;

	(void)unused;
	while (!over) {
		syscall(SYS_getppid);
		n++;
		next += pause_ns;
		while (pause_ns > 0 && now() < next)
			;
	}
	__atomic_fetch_add(&total, n, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	long ms = argc > 2 ? atol(argv[2]) : 1000;
	pthread_t id[64];

	if (threads < 1 || threads > 64)
		return 2;
	if (argc > 3)
		pause_ns = 1e9 * threads / atof(argv[3]);
	for (int i = 0; i < threads; i++)
		pthread_create(&id[i], NULL, work, NULL);
	usleep((useconds_t)ms * 1000);
	over = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	printf("%ld\n", total);
	return 0;
}
