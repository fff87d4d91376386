/* SPDX-License-Identifier: MIT */
/*
 * What is to be watched: a command, processes, threads, a user's, CPUs or all.
 *
 * Whatever the user said becomes two lists, and every event is opened on each
 * pair of them: CPUs (-1: whichever it runs on) and threads (-1: whatever runs
 * there).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "kern/cpu.h"
#include "kern/proc.h"

struct target_opts {
	const char *pids, *tids, *cpus, *user; /* NULL: not given */
	bool all_cpus;
	bool command;	  /* a command was given */
	bool each_thread; /* -a, but every thread by itself (stat --per-thread -a) */
};

struct target {
	struct cpus cpus; /* {-1} when CPUs do not matter */
	struct thread_list
		threads;  /* {-1} when threads do not matter; {0} until a command is started */
	bool system_wide; /* threads is {-1} */
	bool cpus_named;  /* CPUs were asked for: all, or some */
	bool command;	  /* threads[0] is the command's process */
};

/* Refuses what contradicts itself, with what to say instead. */
int target_make(const struct target_opts *o, struct target *ret, struct err *e);
/* Are the threads still those that o names? */
bool target_same(const struct target_opts *o, const struct target *t);
/* Does any of its threads still run? Always so for CPUs. */
bool target_alive(const struct target *t);
void target_free(struct target *t);
