/* SPDX-License-Identifier: MIT */
/*
 * Does perf get samples of what happens while a CPU idles? Some kernels (of virtual machines) keep
 * tasks from perf, and with them the idle tasks of CPUs made from these; BPF programs still see
 * them. It is tried with a fast clock: on a CPU that idles, ticks without samples tell.
 */
#pragma once

#include <stdint.h>

#include "kern/cpu.h"

enum try_idle {
	TRY_IDLE_UNKNOWN, /* it did not idle meanwhile, or it may not be tried */
	TRY_IDLE_SEEN,
	TRY_IDLE_LOST,
};

/* One answer for each CPU, after so many ms at most. */
void try_idle(const struct cpus *cpus, unsigned ms, enum try_idle *ret);

/*
 * Those that lose it (and of how many it is not known), with what was found since the machine was
 * started (root keeps it). Only in virtual machines is it tried.
 */
size_t try_idle_lost(const struct cpus *cpus, unsigned ms, struct cpus *ret);
