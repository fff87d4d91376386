/* SPDX-License-Identifier: MIT */
/* arch: none (needs plug1.so and plug2.so beside it) */
/*
 * plugs MS: loads and unloads two plug-ins in turn, each for MS milliseconds,
 * four times: the second takes the address of the first. Time is spent in burn,
 * called by spin, called by the plug-in, called by main. Ranges as stacks prints
 * them; "plug1" and "plug2" change, so they are printed each time.
 */
#ifndef _GNU_SOURCE
#	define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PART(name) __attribute__((noinline, used, section("w_" #name)))
#define NO_TAIL() __asm__ volatile("" ::: "memory")
extern char __start_w_burn[], __stop_w_burn[], __start_w_spin[], __stop_w_spin[], __start_w_main[],
	__stop_w_main[];

static long run_ms;

PART(burn) void burn(long turns)
{
	while (turns--)
		__asm__ volatile("" : "+r"(turns));
	NO_TAIL();
}

PART(spin) void spin(void)
{
	struct timespec t, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	do {
		burn(200000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - t.tv_sec) * 1000 + (now.tv_nsec - t.tv_nsec) / 1000000 < run_ms);
	NO_TAIL();
}

PART(main) int main(int argc, char **argv)
{
	char self[4096], path[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	run_ms = argc > 1 ? atol(argv[1]) : 100;
	if (n < 0)
		return 3;
	self[n] = '\0';
	dirname(self);
	printf("range burn %p %p\nrange spin %p %p\nrange main %p %p\ngo %d\n",
	       (void *)__start_w_burn, (void *)__stop_w_burn, (void *)__start_w_spin,
	       (void *)__stop_w_spin, (void *)__start_w_main, (void *)__stop_w_main, (int)getpid());
	fflush(stdout);
	for (int i = 0; i < 4; i++) {
		void (*plug)(void (*)(void));
		void *h;

		snprintf(path, sizeof(path), "%s/plug%d.so", self, i % 2 + 1);
		h = dlopen(path, RTLD_NOW);
		if (!h) {
			fprintf(stderr, "%s\n", dlerror());
			return 3;
		}
		*(void **)&plug = dlsym(h, "plug");
		printf("range plug%d %p %p\n", i % 2 + 1, *(void **)&plug,
		       (char *)*(void **)&plug + 64);
		fflush(stdout);
		plug(spin);
		NO_TAIL();
		dlclose(h);
	}
	return 0;
}
