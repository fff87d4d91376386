/* SPDX-License-Identifier: MIT */
/*
 * A workload whose outer frames change in every way that could deceive a walker that remembers
 * the last stack: frames of all kinds in random order, the same callee at the same place called
 * from two sites, returns to any depth, longjmp over frames, coroutines whose stacks are used in
 * turn, handlers on a stack of their own, threads that end and whose stacks are used again.
 *
 *	shifts MS [SEED]	burn MS milliseconds of CPU time
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define PART __attribute__((noinline))
/* What follows a call must not be nothing, or the call becomes a jump. */
#define NO_TAIL() __asm__ volatile("" ::: "memory")

static __thread uint64_t seed;
static __thread sigjmp_buf *outer;
static __thread int in_handler;
static uint64_t end_ns;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int over(void)
{
	return now() >= end_ns;
}

/* About as long as the time between two samples, or far shorter. */
static PART void burn(void)
{
	unsigned n = pick(3) ? pick(2000) : pick(300000);

	for (volatile unsigned i = 0; i < n; i++)
		;
}

static PART void node(unsigned depth);

/* The same frame, and the same stack below it, by two call sites. */
static PART void two_sites(unsigned depth)
{
	if (pick(2)) {
		node(depth);
		NO_TAIL();
	} else {
		node(depth);
		__asm__ volatile("nop" ::: "memory");
	}
}

/* Registers that live through a call are saved, the frame pointer among them. */
static PART void saves(unsigned depth)
{
	unsigned a = pick(9), b = pick(9), c = pick(9), d = pick(9), e = pick(9), f = pick(9);

	for (unsigned i = 0; i < 2 && !over(); i++) {
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
		node(depth);
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
}

/* The same frame calls one that saves the frame pointer, and one that lets it be. */
static PART void either(unsigned depth, void (*kind)(unsigned))
{
	kind(depth);
	NO_TAIL();
}

static PART void variable(unsigned depth)
{
	char *p = alloca(1 + pick(3000));

	for (int i = 0; i < 4 && !over(); i++) {
		__asm__ volatile("" ::"r"(p) : "memory");
		either(depth > 3 ? 3 : depth, pick(2) ? saves : two_sites);
	}
	node(depth);
	NO_TAIL();
}

static PART void large(unsigned depth)
{
	char p[9000];

	__asm__ volatile("" ::"r"(p) : "memory");
	node(depth);
	NO_TAIL();
}

/* The stack is aligned anew: where the caller's is, is read from it. */
static PART void aligned(unsigned depth)
{
	char p[64] __attribute__((aligned(64)));

	__asm__ volatile("" ::"r"(p) : "memory");
	node(depth);
	NO_TAIL();
}

static PART void returns(unsigned depth)
{
	node(depth > 3 ? 3 : depth);
	burn();
	node(depth);
	NO_TAIL();
}

static PART void jumps(unsigned depth)
{
	sigjmp_buf here, *old = outer;

	if (!sigsetjmp(here, 0)) {
		outer = &here;
		node(depth);
	} else {
		outer = old;
		burn();
	}
	outer = old;
}

static void handler(int signal)
{
	sigjmp_buf *old = outer;

	(void)signal;
	in_handler = 1;
	outer = NULL; /* out of a handler nobody jumps */
	node(4);
	outer = old;
	in_handler = 0;
}

static PART void signals(unsigned depth)
{
	if (in_handler)
		node(depth);
	else
		raise(SIGUSR1);
	NO_TAIL();
}

/* ---- coroutines ---- */

static __thread ucontext_t co_main, co[2];
static __thread int co_at = -1, co_left[2];
static __thread char *co_stack[2];

static void co_switch(void)
{
	int from = co_at, to = co_left[1 - from] ? 1 - from : -1;
	sigjmp_buf *old = outer;

	co_at = to;
	outer = NULL;
	swapcontext(&co[from], to < 0 ? &co_main : &co[to]);
	co_at = from;
	outer = old;
}

static void co_run(void)
{
	while (co_left[co_at]-- > 1) {
		outer = NULL;
		node(3);
		co_switch();
	}
	co_left[co_at] = 0;
	for (;;)
		co_switch();
}

static PART void coroutines(unsigned depth)
{
	sigjmp_buf *old = outer;

	if (co_at >= 0 || in_handler) {
		node(depth);
		NO_TAIL();
		return;
	}
	for (int i = 0; i < 2; i++) {
		if (!co_stack[i])
			co_stack[i] = malloc(256 << 10);
		getcontext(&co[i]);
		co[i].uc_stack.ss_sp = co_stack[i];
		co[i].uc_stack.ss_size = 256 << 10;
		co[i].uc_link = NULL;
		co_left[i] = 3;
		makecontext(&co[i], co_run, 0);
	}
	while (co_left[0] || co_left[1]) {
		co_at = co_left[0] ? 0 : 1;
		swapcontext(&co_main, &co[co_at]);
		co_at = -1;
	}
	outer = old;
}

/* ---- */

static PART void node(unsigned depth)
{
	static void (*const kinds[])(unsigned) = { two_sites, saves,   variable, large,	    aligned,
						   returns,   signals, jumps,	 coroutines };
	unsigned kind = pick(sizeof(kinds) / sizeof(*kinds) + 6);

	if (outer && !pick(40))
		siglongjmp(*outer, 1);
	if (!depth || over()) {
		burn();
		return;
	}
	if (kind >= sizeof(kinds) / sizeof(*kinds)) /* mostly the plain ones */
		kind %= 2;
	kinds[kind](depth - 1);
	NO_TAIL();
}

static void *thread_main(void *ctx)
{
	static __thread char alternative[128 << 10];
	stack_t s = { .ss_sp = alternative, .ss_size = sizeof(alternative) };

	seed = *(uint64_t *)ctx;
	sigaltstack(&s, NULL);
	for (int i = 0; i < 8 && !over(); i++)
		node(4 + pick(16));
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	for (int i = 0; i < 2; i++) {
		free(co_stack[i]);
		co_stack[i] = NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	uint64_t s[2] = { argc > 2 ? strtoull(argv[2], NULL, 10) : 1 };

	if (argc < 2)
		return 2;
	puts("go");
	fflush(stdout);
	end_ns = now() + strtoull(argv[1], NULL, 10) * 1000000u;
	sigaction(SIGUSR1, &sa, NULL);
	while (!over()) {
		pthread_t t[2];

		for (int i = 0; i < 2; i++) {
			s[i] = s[0] * 2862933555777941757u + 3037000493u + (uint64_t)i;
			if (pthread_create(&t[i], NULL, thread_main, &s[i]))
				return 1;
		}
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	}
	return 0;
}
