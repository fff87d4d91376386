/* SPDX-License-Identifier: MIT */
/* perf_event_open(2), which libc does not wrap. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* A close-on-exec descriptor, or -errno. Sets attr->size. */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* With a config3 (0: none), which older headers lack and older kernels answer with -E2BIG. */
int perf_open_config3(struct perf_event_attr *attr, uint64_t config3, pid_t pid, int cpu,
		      int group_fd, unsigned long flags);

/* The number of a PMU ("kprobe", "uprobe"), as attr.type has it; -1: there is none. */
int perf_pmu(const char *name);
/* A kprobe at a function (NULL: offset is the address) or a uprobe at an offset in a file. */
int perf_probe_attr(bool user, bool ret, const char *target, uint64_t offset, uint64_t semaphore,
		    struct perf_event_attr *attr);
/* False when this machine's PMUs do not count such events at all, whoever asks. */
bool perf_has(uint32_t type, uint64_t config);

/* How the CPU's cycle counter becomes nanoseconds, as the kernel tells perf. */

/* ns = (ticks * mult >> shift) + zero; ns is the time of the clocks local and perf. */
struct tsc_scale {
	uint32_t mult, shift;
	uint64_t zero;
};
int tsc_scale(struct tsc_scale *ret, struct err *e);
