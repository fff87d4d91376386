/* SPDX-License-Identifier: MIT */
/*
 * busy MS [threads=N] [children=N] [exec] [jit]: something for a
 * profiler to look at, for about MS milliseconds.
 *
 * Functions call each other to some depth and touch memory. children=N forks N
 * times, one after the other, and each child works for MS / N; exec makes each
 * child run this program anew; jit runs code in memory without a file, mapped
 * twice at the same address.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static struct timespec end;

static int over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

__attribute__((noinline)) static void leaf(void)
{
	for (int i = 0; i < 20000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) static void touch(void)
{
	char *p = mmap(NULL, 16 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 16 && p != MAP_FAILED; i++)
		p[i << 12] = 1;
	munmap(p, 16 << 12);
	sink++;
}

__attribute__((noinline)) static void branch(int depth)
{
	if (depth % 3 == 0)
		leaf();
	else if (depth % 7 == 0)
		touch();
	if (depth > 0)
		branch(depth - 1);
	sink++;
}

static void *work(void *arg)
{
	do
		branch(24);
	while (!over());
	return arg;
}

/* x86: dec of a counter until it is zero; elsewhere there is nothing to run. */
static void run_jit(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
	void *at = NULL;

	for (int round = 0; round < 2; round++) {
		void *p = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
		void (*fn)(unsigned long);

		if (p == MAP_FAILED)
			return;
		memcpy(p, code, sizeof(code));
		memcpy(&fn, &p, sizeof(fn));
		fn(20000000);
		at = p;
	}
#endif
}

static void set_end(long ms)
{
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += ms % 1000 * 1000000;
	end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
}

static void one_child(char *self, long ms, int again)
{
	char text[32];
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(text, sizeof(text), "%ld", ms);
		if (again)
			execl(self, "busy-again", text, (char *)NULL);
		set_end(ms);
		work(NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 100;
	int threads = 0, children = 0, again = 0, jit = 0;
	pthread_t thread[16];
	char self[] = "/proc/self/exe";

	for (int i = 2; i < argc; i++) {
		if (sscanf(argv[i], "threads=%d", &threads) == 1 ||
		    sscanf(argv[i], "children=%d", &children) == 1)
			continue;
		again |= strcmp(argv[i], "exec") == 0;
		jit |= strcmp(argv[i], "jit") == 0;
	}
	if (jit)
		run_jit();
	for (int i = 0; i < children; i++)
		one_child(self, ms / children, again);
	if (children)
		return 0;
	set_end(ms);
	for (int i = 0; i < threads && i < 16; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < threads && i < 16; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
