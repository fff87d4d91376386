/* SPDX-License-Identifier: MIT */
/*
 * What an event counts, where somebody asks: shares of misses, instructions a cycle,
 * samples of clocks. The same on every machine; most events have none of these roles.
 */
#pragma once

#include <stdbool.h>

enum event_role {
	ROLE_OTHER,
	ROLE_CPU_CLOCK,
	ROLE_TASK_CLOCK,
	ROLE_PAGE_FAULTS, /* minor and major ones, or either */
	ROLE_BPF_OUTPUT,
	ROLE_DUMMY, /* counts nothing, brings news of processes */
	ROLE_CYCLES,
	ROLE_INSTRUCTIONS,
	ROLE_BRANCHES,
	ROLE_BRANCH_MISSES,
	ROLE_CACHE_REFERENCES,
	ROLE_CACHE_MISSES,
	ROLE_STALLED_FRONTEND,
	ROLE_STALLED_BACKEND,
	/* of caches: loads, and those that missed */
	ROLE_L1D_LOADS,
	ROLE_L1D_MISSES,
	ROLE_L1I_LOADS,
	ROLE_L1I_MISSES,
	ROLE_LLC_LOADS,
	ROLE_LLC_MISSES,
	ROLE_DTLB_LOADS,
	ROLE_DTLB_MISSES,
	ROLE_ITLB_LOADS,
	ROLE_ITLB_MISSES,
};

/* It counts nanoseconds on a CPU. */
static inline bool role_is_clock(enum event_role r)
{
	return r == ROLE_CPU_CLOCK || r == ROLE_TASK_CLOCK;
}

/* Whose events were not counted. */
#define EXCLUDES_USER (1u << 0)
#define EXCLUDES_KERNEL (1u << 1)
#define EXCLUDES_HYPERVISOR (1u << 2)
