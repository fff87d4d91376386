/* SPDX-License-Identifier: MIT */
/*
 * A workload that waits for known times in known functions, each MS milliseconds
 * and TIMES times:
 *
 *	waits MS TIMES [threads]
 *
 * in_sleep    clock_nanosleep
 * in_futex    a futex, woken by wake_futex in another thread
 * in_pipe     a read from a pipe, which feed_pipe in another thread writes to
 * in_child    wait4 for a child that sleeps (its own: child_sleep)
 *
 * Prints "NAME NS" for each: how long it took, as seen from outside, of which at
 * most a little was not waiting. "threads" does all at once in threads of their own,
 * else one after the other. Stacks have no frame pointers.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PART __attribute__((noinline, noclone, used))
#if defined(__clang__)
#	undef PART
#	define PART __attribute__((noinline, used))
#endif
/* What follows a call must not be nothing, or the call becomes a jump. */
#define NO_TAIL() __asm__ volatile("" ::: "memory")

static long ms;
static int times;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void rest(void)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) != 0)
		;
}

/* Until the thread waits for something. */
static void until_asleep(pid_t pid, pid_t tid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	for (;;) {
		FILE *f = fopen(path, "r");
		const char *state = NULL;

		if (f && fgets(text, sizeof(text), f))
			state = strrchr(text, ')');
		if (f)
			fclose(f);
		if (!state || state[2] == 'S')
			return;
		usleep(500);
	}
}

PART void in_sleep(void)
{
	rest();
	NO_TAIL();
}

static atomic_int word;

PART void wake_futex(void)
{
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	NO_TAIL();
}

PART void in_futex(void)
{
	while (!word)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	NO_TAIL();
}

static int fds[2];

PART void feed_pipe(void)
{
	if (write(fds[1], "x", 1) != 1)
		abort();
	NO_TAIL();
}

PART void in_pipe(void)
{
	char c;

	if (read(fds[0], &c, 1) != 1)
		abort();
	NO_TAIL();
}

PART void child_sleep(void)
{
	rest();
	NO_TAIL();
}

/* Its waits are none of in_child's. */
PART void child_looks(pid_t parent, pid_t waiter)
{
	until_asleep(parent, waiter);
	NO_TAIL();
}

PART void in_child(void)
{
	pid_t parent = getpid(), waiter = (pid_t)syscall(SYS_gettid), pid = fork();

	if (pid == 0) {
		child_looks(parent, waiter);
		child_sleep();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	NO_TAIL();
}

struct other {
	void (*wake)(void);
	pid_t waiter;
};

/* Does what ends a wait, MS after it has begun. */
static void *later(void *arg)
{
	const struct other *o = arg;

	until_asleep(getpid(), o->waiter);
	rest();
	o->wake();
	return NULL;
}

static void with_other(void (*wait)(void), void (*wake)(void))
{
	struct other o = { wake, (pid_t)syscall(SYS_gettid) };
	pthread_t t;

	if (wait == in_futex)
		word = 0;
	pthread_create(&t, NULL, later, &o);
	wait();
	pthread_join(t, NULL);
}

static const struct part {
	const char *name;
	void (*wait)(void), (*wake)(void);
} parts[] = {
	{ "in_sleep", in_sleep, NULL },
	{ "in_futex", in_futex, wake_futex },
	{ "in_pipe", in_pipe, feed_pipe },
	{ "in_child", in_child, NULL },
};

static void *run(void *arg)
{
	const struct part *p = arg;
	uint64_t start = now();

	for (int i = 0; i < times; i++) {
		if (p->wake)
			with_other(p->wait, p->wake);
		else
			p->wait();
	}
	printf("%s %llu\n", p->name, (unsigned long long)(now() - start));
	fflush(stdout);
	return NULL;
}

/* Runs long enough that a recorder knows the program's tables before it waits. */
static void warm_up(void)
{
	for (uint64_t end = now() + 200000000; now() < end;)
		NO_TAIL();
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	int n = 4;

	if (argc < 3 || pipe(fds) < 0)
		return 2;
	ms = atol(argv[1]);
	times = atoi(argv[2]);
	warm_up();
	for (int i = 0; i < n; i++) {
		if (argc > 3)
			pthread_create(&t[i], NULL, run, (void *)&parts[i]);
		else
			run((void *)&parts[i]);
	}
	for (int i = 0; argc > 3 && i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
