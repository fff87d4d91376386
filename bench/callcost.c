/* SPDX-License-Identifier: MIT */
/*
 * callcost getppid|write N: make N system calls and print the nanoseconds each took.
 *
 * The time is taken inside, so that the start-up of a tool that watches is not in it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1000000;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	double start;

	if (argc < 2 || n < 1 || fd < 0)
		return 2;
	start = now();
	if (strcmp(argv[1], "write") == 0) {
		for (long i = 0; i < n; i++)
			syscall(SYS_write, fd, "x", 1);
	} else {
		for (long i = 0; i < n; i++)
			syscall(SYS_getppid);
	}
	printf("%.2f\n", (now() - start) / (double)n);
	return 0;
}
