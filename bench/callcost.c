/* SPDX-License-Identifier: MIT */
/*
 * callcost getppid|write|called N: make N system calls, or calls of called(), and print the
 * nanoseconds each took.
 *
 * CPU time taken inside: neither a watching tool's start-up nor what else runs
 * here is in it. Of twenty parts the quickest counts, since noise only adds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PARTS 20

static long twice(long n)
{
	return n * 2;
}

static long (*volatile calls)(long n) = twice;

/* Begins as functions do that keep something over a call, where indirect branches are tracked:
 * with endbr64 and push. */
long called(long n);
long called(long n)
{
	return calls(n) + n;
}

static long (*volatile call)(long n) = called;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = (argc > 2 ? strtol(argv[2], NULL, 10) : 1000000) / PARTS;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	double best = 1e18;

	if (argc < 2 || n < 1 || fd < 0)
		return 2;
	for (int part = 0; part < PARTS; part++) {
		double start = now(), took;

		if (strcmp(argv[1], "write") == 0) {
			for (long i = 0; i < n; i++)
				syscall(SYS_write, fd, "x", 1);
		} else if (strcmp(argv[1], "called") == 0) {
			for (long i = 0; i < n; i++)
				call(i);
		} else {
			for (long i = 0; i < n; i++)
				syscall(SYS_getppid);
		}
		took = (now() - start) / (double)n;
		best = took < best ? took : best;
	}
	printf("%.2f\n", best);
	return 0;
}
