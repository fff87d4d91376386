/* SPDX-License-Identifier: MIT */
/*
 * What the -e grammar may know of this machine: PMUs, tracepoints, symbols, vendors' names
 * (libpfm4). Nothing is read before it is asked for.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/env.h"
#include "kern/pmu.h"

/* Elsewhere than the running kernel: NULL members are the usual places. */
struct env_roots {
	const char *sysfs;    /* "/sys" */
	const char *tracefs;  /* found and mounted when NULL */
	const char *kallsyms; /* "/proc/kallsyms" */
};

struct env {
	struct pmus pmus;     /* first: what asks for PMUs gets struct env as a context */
	struct spec_env spec; /* for spec_parse() */
	struct env_roots roots;
	struct env_group *groups; /* lists of tracepoints read so far */
};

/* roots NULL: SYSFS_PATH and TRACEFS_PATH of the environment are honoured, as perf does
 * (containers). */
void env_init(struct env *env, const struct env_roots *roots);
void env_free(struct env *env);

/* The tracefs this environment uses; NULL with e filled when there is none. */
const char *env_tracefs(struct env *env, struct err *e);

/* A kernel symbol's address. -ENOENT: there is none; -EPERM: addresses are hidden. */
int ksym_find(const char *path, const char *name, uint64_t *addr, struct err *e);
