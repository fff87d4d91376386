/* SPDX-License-Identifier: MIT */
/*
 * A workload that knows what a counter must see. Each argument adds work, done
 * after the program is set up; what the C library does before main() is the same
 * in every run, so tests count two runs and compare the difference, or count an
 * event that nothing but the work causes.
 *
 *	known [getppid=N] [umask=N] [faults=N] [switches=N] [threads=T] [children=C] [exec]
 *
 * getppid=N   N getppid system calls (nothing else makes them)
 * umask=N     N umask calls
 * faults=N    N page faults: N fresh anonymous pages touched once
 * switches=N  N voluntary context switches by sleeping (nanosleep)
 * threads=T   the work is done by each of T threads
 * children=C  the work is done by each of C child processes
 * exec        do the work, then exec this program once more with the same work
 * wait=MS     sleep first
 * line=1      wait for a line on standard input before anything else, so that a tracer can attach
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long getppids, umasks, faults, switches, threads, children, wait_ms, line;

static void *work(void *unused)
{
	long page = sysconf(_SC_PAGESIZE);

	(void)unused;
	for (long i = 0; i < getppids; i++)
		syscall(SYS_getppid);
	for (long i = 0; i < umasks; i++)
		syscall(SYS_umask, 022);
	if (faults) {
		char *p = mmap(NULL, (size_t)(faults * page), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(3);
		madvise(p, (size_t)(faults * page), MADV_NOHUGEPAGE);
		for (long i = 0; i < faults; i++)
			p[i * page] = 1;
		munmap(p, (size_t)(faults * page));
	}
	for (long i = 0; i < switches; i++) {
		struct timespec t = { 0, 100000 };

		nanosleep(&t, NULL);
	}
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t id[64];

	if (!threads) {
		work(NULL);
		return;
	}
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&id[i], NULL, work, NULL);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(id[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long *value;
	} words[] = {
		{ "getppid", &getppids },  { "umask", &umasks },    { "faults", &faults },
		{ "switches", &switches }, { "threads", &threads }, { "children", &children },
		{ "wait", &wait_ms },	   { "line", &line },
	};
	int exec_at = 0;

	for (int i = 1; i < argc; i++) {
		char *eq = strchr(argv[i], '=');

		if (strcmp(argv[i], "exec") == 0)
			exec_at = i;
		for (size_t k = 0; eq && k < sizeof(words) / sizeof(*words); k++)
			if (strncmp(argv[i], words[k].name, (size_t)(eq - argv[i])) == 0)
				*words[k].value = atol(eq + 1);
	}
	for (char c = 0; line && c != '\n' && read(STDIN_FILENO, &c, 1) == 1;)
		;
	if (wait_ms)
		usleep((useconds_t)wait_ms * 1000);
	if (children) {
		for (long i = 0; i < children; i++)
			if (fork() == 0) {
				work_in_threads();
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
	} else {
		work_in_threads();
	}
	if (exec_at) {
		argv[exec_at] = (char *)"again";
		execv("/proc/self/exe", argv);
		return 4;
	}
	return 0;
}
