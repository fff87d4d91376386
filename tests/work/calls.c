/* SPDX-License-Identifier: MIT */
/*
 * A workload for call chains and reports: functions that call each other in
 * known shares, recursion, named threads, children, and page faults.
 *
 *	calls [tree=MS] [recurse=MS] [random=MS] [threads=T] [depth=D] [fan=F] [faults=N]
 *[children=C] [names]
 *
 * tree=MS     three leaves below two callers; about 3:2:1 of the time
 * recurse=MS  two functions that call each other, a few levels deep
 * random=MS   fan functions that call each other by chance, depth levels deep (defaults: 32, 30)
 * threads=T   all of it in each of T threads
 * faults=N    N page faults
 * children=C  C child processes, one after the other, which do the same
 * names       threads call themselves worker-0, worker-1 ...
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long tree_ms, recurse_ms, random_ms, threads, depth = 30, fan = 32, faults, children, names;
static volatile unsigned long sink;

static uint64_t now_ms(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC,
		&t); /* not in the vDSO, which perf cannot name */
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#ifdef __clang__
#	define OWN_FRAME __attribute__((noinline))
#else
#	define OWN_FRAME __attribute__((noinline, noipa))
#endif
/* After it the call is no jump. */
#define AND_RETURN __asm__ volatile("")

static OWN_FRAME void burn(unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++)
		sink += i;
}

static OWN_FRAME void leaf_three(void)
{
	burn(3000);
	AND_RETURN;
}
static OWN_FRAME void leaf_two(void)
{
	burn(2000);
	AND_RETURN;
}
static OWN_FRAME void leaf_one(void)
{
	for (unsigned long i = 0; i < 1000; i++)
		sink ^= i;
}
static OWN_FRAME void caller_a(void)
{
	leaf_three();
	leaf_one();
	AND_RETURN;
}
static OWN_FRAME void caller_b(void)
{
	leaf_two();
	leaf_one();
	AND_RETURN;
}

static OWN_FRAME void ping(int n);
static OWN_FRAME void pong(int n)
{
	burn(300);
	if (n)
		ping(n - 1);
	AND_RETURN;
}
static OWN_FRAME void ping(int n)
{
	burn(200);
	if (n)
		pong(n - 1);
	AND_RETURN;
}

typedef void random_fn(int n, uint64_t *seed);
static random_fn *const table[32];

static inline uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

#define FN(i)                                                           \
	static OWN_FRAME void random_##i(int n, uint64_t *seed)         \
	{                                                               \
		burn(100);                                              \
		if (n)                                                  \
			table[next(seed) % (uint64_t)fan](n - 1, seed); \
		AND_RETURN;                                             \
	}
#define FN4(a, b, c, d) FN(a) FN(b) FN(c) FN(d)
FN4(0, 1, 2, 3)
FN4(4, 5, 6, 7)
FN4(8, 9, 10, 11)
FN4(12, 13, 14, 15)
FN4(16, 17, 18, 19)
FN4(20, 21, 22, 23)
FN4(24, 25, 26, 27)
FN4(28, 29, 30, 31)
#define T4(a, b, c, d) random_##a, random_##b, random_##c, random_##d
static random_fn *const table[32] = { T4(0, 1, 2, 3),	  T4(4, 5, 6, 7),     T4(8, 9, 10, 11),
				      T4(12, 13, 14, 15), T4(16, 17, 18, 19), T4(20, 21, 22, 23),
				      T4(24, 25, 26, 27), T4(28, 29, 30, 31) };

static OWN_FRAME void touch(long n)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, (size_t)(n * page), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(3);
	madvise(p, (size_t)(n * page), MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++)
		p[i * page] = 1;
	munmap(p, (size_t)(n * page));
}

static OWN_FRAME void *work(void *which)
{
	uint64_t end, seed = (uint64_t)(uintptr_t)which + 1;
	char name[16];

	if (names) {
		snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)which);
		prctl(PR_SET_NAME, name);
	}
	for (end = now_ms() + (uint64_t)tree_ms; tree_ms && now_ms() < end;)
		for (int i = 0; i < 20; i++) {
			caller_a();
			caller_b();
		}
	for (end = now_ms() + (uint64_t)recurse_ms; recurse_ms && now_ms() < end;)
		for (int i = 0; i < 20; i++)
			ping(i % 7);
	for (end = now_ms() + (uint64_t)random_ms; random_ms && now_ms() < end;)
		for (int i = 0; i < 20; i++)
			table[next(&seed) % (uint64_t)fan]((int)depth, &seed);
	if (faults)
		touch(faults);
	return NULL;
}

static void all(void)
{
	pthread_t t[64];
	long n = threads < 64 ? threads : 64;

	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(intptr_t)i))
			exit(3);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	if (!n)
		work(NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long *value;
	} words[] = { { "tree", &tree_ms },    { "recurse", &recurse_ms }, { "random", &random_ms },
		      { "threads", &threads }, { "depth", &depth },	   { "fan", &fan },
		      { "faults", &faults },   { "children", &children },  { "names", &names } };

	for (int i = 1; i < argc; i++) {
		size_t n = strcspn(argv[i], "="), k = 0;

		while (k < sizeof(words) / sizeof(words[0]) &&
		       (strlen(words[k].name) != n || strncmp(words[k].name, argv[i], n) != 0))
			k++;
		if (k == sizeof(words) / sizeof(words[0])) {
			fprintf(stderr, "calls: no such work: %s\n", argv[i]);
			return 2;
		}
		*words[k].value = argv[i][n] ? atol(argv[i] + n + 1) : 1;
	}
	fan = fan < 1 ? 1 : fan > 32 ? 32 : fan;
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 3;
		if (pid == 0) {
			all();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	if (!children)
		all();
	return 0;
}
