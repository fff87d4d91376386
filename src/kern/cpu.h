/* SPDX-License-Identifier: MIT */
/* Which CPUs there are and where they sit. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define CPU_MAX 8192u
/* This machine, as ELF files have it. */
#if defined(__aarch64__)
#	define CPU_MACHINE EM_AARCH64
#else
#	define CPU_MACHINE EM_X86_64
#endif

struct cpus {
	int *cpu; /* ascending, each once */
	size_t n;
};
int cpus_online(struct cpus *ret, struct err *e);
/* "0-3,7"; CPUs that are not online are an error that says so. */
int cpus_parse(const char *text, struct cpus *ret, struct err *e);
/* The same without the online check, for cpumask files and recordings. */
int cpus_parse_any(const char *text, struct cpus *ret, struct err *e);
bool cpus_has(const struct cpus *c, int cpu);
void cpus_free(struct cpus *c);

/* -1 where the kernel does not say. */
struct cpu_place {
	int socket, die, core, node;
};
struct cpu_place cpu_place(int cpu);
