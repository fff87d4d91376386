/* SPDX-License-Identifier: MIT */
/* What an event of a recording is opened with. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/mem.h"
#include "event/spec/spec.h"
#include "live/capture/capture.h"

/* What an event is among the others. */
#define CAPTURE_MANY 1u	       /* several share the rings, so samples must say whose they are */
#define CAPTURE_TRACKS 2u      /* tells of tasks and mappings */
#define CAPTURE_ONLY_TRACKS 4u /* and of nothing else */
#define CAPTURE_GROUPED 8u     /* in a group of several */

int capture_attr(const struct capture_opts *o, const struct event_spec *s, const struct target *t,
		 unsigned role, struct perf_event_attr *ret, struct err *e);

/* A member of a :S group makes no samples of its own: the leader's carry its count. */
void capture_attr_follow(const struct event_spec *s, const struct perf_event_attr *leader,
			 struct perf_event_attr *a);

/* The highest rate that the kernel allows now. */
uint64_t capture_max_freq(void);

/* perf's numbers of registers, all but segment registers that cannot be sampled. */
#if defined(__x86_64__)
#	define REGS_ALL 0xff0fffull /* ax..ss without ds es fs gs, r8..r15 */
#elif defined(__aarch64__)
#	define REGS_ALL ((1ull << 33) - 1)
#else
#	define REGS_ALL 0ull
#endif

/* Opening one event, with what counting and recording both do when the kernel says no. */

/*
 * perf_event_open of s with attr; a descriptor, or -errno. Raises the limit of open files, and asks
 * again without guest and host of PMUs that cannot tell them apart (msr, power, uncore).
 */
int open_event(struct event_spec *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags);

/* After a refusal: true when attr was narrowed to user space and the event renamed (cycles:u). */
bool open_narrow(struct event_spec *s, struct perf_event_attr *attr, struct arena *names,
		 bool system_wide, int code);
