/* SPDX-License-Identifier: MIT */
/*
 * Every kind of stack frame compilers make, between two int3, for uwstep: run
 * as `frames`, built in many ways (tests/cli/unwind.py). Also valid C++.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
#define NOINLINE __attribute__((noinline, noclone_))
#if defined(__clang__)
#	define noclone_ noinline
#else
#	define noclone_ noclone
#endif

#if defined(__x86_64__)
#	define BREAK() __asm__ volatile("int3" ::: "memory")
#else
#	define BREAK() __asm__ volatile("brk #0" ::: "memory")
#endif
#define KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

volatile long sink;

NOINLINE long leaf(long x)
{
	KEEP(x);
	return x * 3 + 1;
}

NOINLINE long leaf_with_frame(long x)
{
	volatile char buf[200];

	memset((char *)buf, (int)x, sizeof(buf));
	return buf[7];
}

/* Uses all callee-saved registers. */
NOINLINE long many_registers(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long r = leaf(a), s = leaf(b), t = leaf(c), u = leaf(d), v = leaf(e), w = leaf(f);

	r += leaf(g) + leaf(h);
	return r + s * t + u * v * w + a + b + c + d + e + f + g + h;
}

NOINLINE long with_alloca(long n)
{
	char *p = (char *)alloca((size_t)n);

	memset(p, 1, (size_t)n);
	return leaf(p[n / 2]) + leaf_with_frame(p[0]);
}

NOINLINE long realigned(long x)
{
	volatile long v[8] __attribute__((aligned(128)));

	for (int i = 0; i < 8; i++)
		v[i] = leaf(x + i);
	return v[3] + leaf((long)(uintptr_t)v & 127);
}

NOINLINE long realigned_alloca(long n)
{
	volatile long v[4] __attribute__((aligned(64)));
	char *p = (char *)alloca((size_t)n);

	p[0] = (char)n;
	v[0] = leaf(p[0]);
	return v[0] + many_registers(1, 2, 3, 4, 5, 6, 7, 8);
}

NOINLINE long huge(long x)
{
	volatile char big[70000];

	big[0] = (char)x;
	big[69999] = (char)leaf(x);
	return big[0] + big[69999];
}

NOINLINE long variadic(int n, ...)
{
	long sum = 0;
	va_list ap;

	va_start(ap, n);
	while (n--)
		sum += leaf(va_arg(ap, long));
	va_end(ap);
	return sum;
}

NOINLINE double floats(double a, double b)
{
	return a * b + (double)leaf((long)a) + (double)leaf((long)b);
}

NOINLINE long tail(long x)
{
	return many_registers(x, x, x, x, x, x, x, x);
}

NOINLINE long recurse(long n)
{
	if (n == 0)
		return leaf(1);
	return recurse(n - 1) + leaf(n);
}

static jmp_buf env;

__attribute__((noreturn)) NOINLINE void jump_out(long x)
{
	sink = x;
	longjmp(env, 1);
}

/* The last instruction is a call: the return address lies behind the function. */
__attribute__((noreturn)) NOINLINE void never_returns(long x)
{
	jump_out(x + 1);
}

NOINLINE long jumps(long x)
{
	if (setjmp(env) == 0)
		never_returns(x);
	return leaf(x);
}

static void handler(int sig)
{
	sink = leaf(sig);
	if (sig == SIGUSR1)
		raise(SIGUSR2); /* nested */
}

NOINLINE long signals(long x)
{
	struct sigaction sa;
	stack_t ss;

	memset(&sa, 0, sizeof(sa));
	memset(&ss, 0, sizeof(ss));
	sa.sa_handler = handler;
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	ss.ss_size = 65536;
	ss.ss_sp = malloc(ss.ss_size);
	sigaltstack(&ss, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	return leaf(x);
}

static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Calls through the PLT, lazily bound, and back from a library. */
NOINLINE long library(void)
{
	char text[] = "stack";
	struct timespec t;

	qsort(text, 5, 1, compare);
	sink = (long)strlen(text) + (long)strtol("12", NULL, 10) + atoi("7");
	snprintf(text, sizeof(text), "%d", (int)sink);
	clock_gettime(CLOCK_MONOTONIC, &t);
	sink = time(NULL) != 0;
	free(malloc(100));
	return leaf(text[0]);
}

NOINLINE long forks(void)
{
	volatile pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return leaf(1);
}

NOINLINE long all(void)
{
	long r = leaf(1) + leaf_with_frame(2) + many_registers(1, 2, 3, 4, 5, 6, 7, 8);

	r += with_alloca(100) + with_alloca(33) + realigned(5) + realigned_alloca(50) + huge(3);
	r += variadic(4, 1L, 2L, 3L, 4L) + (long)floats(1.5, 2.5) + tail(4) + recurse(12) +
	     jumps(3);
	r += library() + signals(2) + forks();
	return r;
}

#ifdef __cplusplus
}

/* Exceptions: the unwinder of the language itself runs. */
struct guard {
	long &x;
	~guard()
	{
		x = leaf(x);
	}
};
static NOINLINE long throws(long x)
{
	long y = x;
	guard g = { y };

	if (x > 2)
		throw x;
	return leaf(y);
}
static NOINLINE long catches(long x)
{
	try {
		return throws(x) + throws(x + 1);
	} catch (long v) {
		return leaf(v);
	}
}
#endif

int main(void)
{
	BREAK();
	sink = all();
#ifdef __cplusplus
	sink += catches(2);
#endif
	BREAK();
	return 0;
}
