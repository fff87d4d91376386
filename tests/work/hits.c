/* SPDX-License-Identifier: MIT */
/*
 * hits THREADS CALLS [PAUSE]: system calls that tell from where they were made, with a pause (us)
 * after each.
 *
 * Each thread calls getpriority(0, CODE) CALLS times with another code each time. The bits of the
 * code are the way to the call: left() for 0, right() for 1, the lowest bit first. So a stack and
 * the argument beside it can be compared, hit by hit. leaf() is where a probe may be put.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BITS 6

void leaf(long code);
void left(long code, int level);
void right(long code, int level);

__attribute__((noinline)) void leaf(long code)
{
	syscall(SYS_getpriority, 0, code);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

static void go_on(long code, int level)
{
	if (level == BITS)
		leaf(code);
	else if (code >> level & 1)
		right(code, level + 1);
	else
		left(code, level + 1);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void left(long code, int level)
{
	go_on(code, level);
}

__attribute__((noinline)) void right(long code, int level)
{
	volatile char other[48]; /* another frame than left's */

	other[0] = (char)code;
	go_on(code, level);
	other[1] = other[0];
}

static long calls;
static unsigned pause_us;

static void *thread(void *seed)
{
	unsigned long x = (unsigned long)seed;

	for (long i = 0; i < calls; i++) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		go_on((long)(x >> 40) & ((1 << BITS) - 1), 0);
		if (pause_us)
			usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[64];

	calls = argc > 2 ? atol(argv[2]) : 100;
	pause_us = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	if (n > 64)
		n = 64;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(long)(i + 1)))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
