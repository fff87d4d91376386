/* SPDX-License-Identifier: MIT */
/* perf_event_open(2), which libc does not wrap. */
#ifndef KYMO_KERN_PERF_H
#define KYMO_KERN_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A close-on-exec descriptor, or -errno. Sets attr->size. */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* The same with a config3, which older headers lack and older kernels answer with -E2BIG. */
int perf_open_config3(struct perf_event_attr *attr, uint64_t config3, pid_t pid, int cpu,
		      int group_fd, unsigned long flags);

/* False when this machine's PMUs do not count such events at all, whoever asks. */
bool perf_has(uint32_t type, uint64_t config);

#endif
