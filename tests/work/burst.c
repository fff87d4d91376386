/* SPDX-License-Identifier: MIT */
/*
 * burst N RATE: start N processes that live for an instant, at most RATE a second.
 *
 * Each one execs this program anew, which makes one getppid system call and ends;
 * its name is "burst". Prints how many were started.
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n, rate, started = 0;
	struct timespec next;
	char self[4096] = "";

	if (argc == 2 && strcmp(argv[1], "one") == 0) {
		syscall(SYS_getppid);
		return 0;
	}
	if (argc != 3)
		return 2;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 2;
	n = atol(argv[1]);
	rate = atol(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(self, self, "one", (char *)NULL);
			_exit(3);
		}
		started += pid > 0;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		next.tv_nsec += 1000000000 / rate;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	while (wait(NULL) > 0)
		;
	printf("%ld\n", started);
	return 0;
}
