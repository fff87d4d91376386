/* SPDX-License-Identifier: MIT */
/*
 * A workload whose stacks are known: prints where its functions lie, then burns
 * MS milliseconds of CPU time at the bottom of a given kind of stack.
 *
 *	stacks MODE MS [N]
 *
 * recurse     burn < spin < recurse (N + 1 times) < run < main
 * thread      burn < spin < thread_main, in a thread
 * signal      burn < spin < handler < (trampoline) < wait_here < run < main, on a stack of its own
 * nested      a signal that interrupts a signal's handler
 * syscall     time is spent in the kernel, under reader < run < main
 * vdso        time is spent in the vDSO, under clock < run < main
 * alloca      a frame of variable and one of large size
 * fork        a child burns; so does the parent
 * exec        this program once more, as recurse
 * deleted     a copy of this program that has removed itself burns as recurse
 * jit         code made at run time with frame pointers, between jit_call and spin
 * jit-bare    the same without
 * maps        as recurse, with N more executable mappings (default 5000)
 * coroutine   burn < spin < co_main, on a stack made by makecontext
 * vfork       a vfork child burns while its parent is held
 *
 * Each function of interest has a section of its own, so that its bounds are
 * known: lines "range NAME START END" on stdout, then "go".
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__clang__)
#	define PART(name) __attribute__((noinline, used, section("w_" #	       name)))
#else
#	define PART(name) __attribute__((noinline, noclone, used, section("w_" #	name)))
#endif
/* clang-format off */
#define PARTS(X) \
	X(burn) X(spin) X(recurse) X(thread_main) X(handler) X(outer_handler) X(wait_here) X(reader) \
	X(clock) X(variable) X(large) X(co_main) X(child) X(jit_call) X(run) X(main)
/* clang-format on */
#define DECLARE(name) extern char __start_w_##name[], __stop_w_##name[];
PARTS(DECLARE)

/* What follows a call must not be nothing, or the call becomes a jump. */
#define NO_TAIL() __asm__ volatile("" ::: "memory")

static long run_ms;
static volatile long sink;

PART(burn) void burn(long turns)
{
	while (turns--)
		__asm__ volatile("" : "+r"(turns));
	NO_TAIL();
}

/* Of CPU time, so that a busy machine gives as many samples as an idle one. */
static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

PART(spin) void spin(void)
{
	long end = now_ms() + run_ms;

	while (now_ms() < end)
		burn(200000);
	NO_TAIL();
}

PART(recurse) long recurse(long n)
{
	long keep = n * 3;

	__asm__ volatile("" : "+r"(keep));
	if (n == 0)
		spin();
	else
		keep += recurse(n - 1);
	NO_TAIL();
	return keep;
}

PART(thread_main) void *thread_main(void *arg)
{
	spin();
	NO_TAIL();
	return arg;
}

PART(handler) void handler(int sig)
{
	sink = sig;
	spin();
	NO_TAIL();
}

PART(outer_handler) void outer_handler(int sig)
{
	sink = sig;
	raise(SIGUSR2);
	NO_TAIL();
}

PART(wait_here) void wait_here(int sig)
{
	raise(sig);
	NO_TAIL();
}

static void on_signal(int sig, void (*fn)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = fn;
	sa.sa_flags = flags;
	sigaction(sig, &sa, NULL);
}

static void alternate_stack(void)
{
	stack_t ss;

	memset(&ss, 0, sizeof(ss));
	ss.ss_size = 256 << 10;
	ss.ss_sp =
		mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&ss, NULL);
}

PART(reader) void reader(void)
{
	static char buf[1 << 20];
	int fd = open("/dev/urandom", O_RDONLY);
	long end = now_ms() + run_ms;

	while (now_ms() < end)
		sink += read(fd, buf, sizeof(buf));
	close(fd);
	NO_TAIL();
}

PART(clock) void clock_loop(void)
{
	long end = now_ms() + run_ms;
	struct timespec t;

	do {
		for (int i = 0; i < 1000; i++) {
			clock_gettime(CLOCK_MONOTONIC, &t);
			sink += t.tv_nsec;
		}
	} while (now_ms() < end);
}

PART(large) void large(void)
{
	volatile char big[100000];

	big[0] = big[99999] = 1;
	spin();
	sink = big[0];
}

PART(variable) void variable(long n)
{
	char *p = alloca((size_t)n);

	memset(p, 1, (size_t)n);
	large();
	sink = p[n / 2];
}

PART(child) void child(void)
{
	spin();
	NO_TAIL();
}

static ucontext_t co_main_ctx, co_ctx;

PART(co_main) void co_main(void)
{
	spin();
	NO_TAIL();
}

/* A function made at run time that calls spin, with a frame pointer or without. */
PART(jit_call) void jit_call(int bare)
{
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *fn = (void *)(uintptr_t)spin;
#if defined(__x86_64__)
	/* [push %rbp; mov %rsp, %rbp] or [sub $8, %rsp]; mov $spin, %rax; call *%rax; ... ret */
	static const uint8_t with[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8 };
	static const uint8_t without[] = { 0x48, 0x83, 0xec, 0x08, 0x48, 0xb8 };
	static const uint8_t with_end[] = { 0xff, 0xd0, 0x5d, 0xc3 };
	static const uint8_t without_end[] = { 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	memcpy(p, bare ? without : with, 6);
	memcpy(p + 6, &fn, 8);
	if (bare)
		memcpy(p + 14, without_end, sizeof(without_end));
	else
		memcpy(p + 14, with_end, sizeof(with_end));
#else
	/* stp x29, x30, [sp, #-16]!; mov x29, sp (or nop); ldr x9, +16; blr x9; ldp ...; ret */
	uint32_t code[] = { 0xa9bf7bfd, bare ? 0xd503201f : 0x910003fd,
			    0x58000089, 0xd63f0120,
			    0xa8c17bfd, 0xd65f03c0 };

	memcpy(p, code, sizeof(code));
	memcpy(p + 24, &fn, 8);
	__builtin___clear_cache((char *)p, (char *)p + 64);
#endif
	((void (*)(void))(uintptr_t)p)();
	NO_TAIL();
}

static void many_maps(long n, const char *self)
{
	int fd = open(self, O_RDONLY);

	/* Every second one, so that the kernel does not merge them. */
	for (long i = 0; i < n; i++) {
		void *p = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (p == MAP_FAILED)
			exit(3);
		munmap((char *)p + 4096, 4096);
	}
	close(fd);
}

static void run_deleted(char **argv)
{
	char path[] = "/tmp/kymo-stacks-XXXXXX", ms[32];
	char *args[] = { path, "unlink-self", ms, argv[3], NULL };
	int to = mkstemp(path), from = open("/proc/self/exe", O_RDONLY);
	char buf[65536];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		if (write(to, buf, (size_t)n) != n)
			exit(3);
	fchmod(to, 0700);
	close(to);
	close(from);
	snprintf(ms, sizeof(ms), "%ld", run_ms);
	execv(path, args);
	exit(3);
}

static void ranges(void)
{
#define SHOW(name) \
	printf("range " #name " %p %p\n", (void *)__start_w_##name, (void *)__stop_w_##name);
	PARTS(SHOW)
	printf("go %d\n", (int)getpid());
	fflush(stdout);
}

PART(run) int run(const char *mode, long n, char **argv)
{
	if (!strcmp(mode, "recurse") || !strcmp(mode, "maps") || !strcmp(mode, "unlink-self")) {
		recurse(n);
	} else if (!strcmp(mode, "thread")) {
		pthread_t t;

		pthread_create(&t, NULL, thread_main, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(mode, "signal") || !strcmp(mode, "nested")) {
		alternate_stack();
		on_signal(SIGUSR1, outer_handler, 0);
		on_signal(SIGUSR2, handler, SA_ONSTACK);
		wait_here(mode[0] == 's' ? SIGUSR2 : SIGUSR1);
	} else if (!strcmp(mode, "syscall")) {
		reader();
	} else if (!strcmp(mode, "vdso")) {
		clock_loop();
	} else if (!strcmp(mode, "alloca")) {
		variable(n);
	} else if (!strcmp(mode, "fork") || !strcmp(mode, "vfork")) {
		volatile pid_t pid = mode[0] == 'f' ? fork() : vfork();

		if (pid == 0) {
			child();
			_exit(0);
		}
		if (mode[0] == 'f')
			spin();
		waitpid(pid, NULL, 0);
	} else if (!strcmp(mode, "jit") || !strcmp(mode, "jit-bare")) {
		jit_call(mode[3] == '-');
	} else if (!strcmp(mode, "coroutine")) {
		getcontext(&co_ctx);
		co_ctx.uc_stack.ss_size = 256 << 10;
		co_ctx.uc_stack.ss_sp = malloc(co_ctx.uc_stack.ss_size);
		co_ctx.uc_link = &co_main_ctx;
		makecontext(&co_ctx, co_main, 0);
		swapcontext(&co_main_ctx, &co_ctx);
	} else {
		fprintf(stderr, "%s: no such mode: %s\n", argv[0], mode);
		return 2;
	}
	return 0;
}

PART(main) int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long n = argc > 3 ? atol(argv[3]) : 0;
	int code;

	run_ms = argc > 2 ? atol(argv[2]) : 100;
	if (!strcmp(mode, "exec")) {
		char *args[] = { argv[0], "recurse", argv[2], argv[3], NULL };

		execv("/proc/self/exe", args);
		return 3;
	}
	if (!strcmp(mode, "deleted"))
		run_deleted(argv);
	if (!strcmp(mode, "unlink-self"))
		unlink(argv[0]);
	if (!strcmp(mode, "maps"))
		many_maps(n ? n : 5000, "/proc/self/exe");
	ranges();
	code = run(mode, !strcmp(mode, "maps") ? 10 : n, argv);
	NO_TAIL();
	return code;
}
