/* SPDX-License-Identifier: MIT */
/* Opening one event, with what counting and recording both do when the kernel says no. */
#ifndef KYMO_LIVE_CAPTURE_OPEN_EVENT_H
#define KYMO_LIVE_CAPTURE_OPEN_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/mem.h"
#include "event/spec/spec.h"

/*
 * perf_event_open of s with attr. The limit of open files is raised when it is
 * in the way; PMUs that cannot tell guest from host (msr, power, uncore) are asked
 * again without that. A descriptor, or -errno.
 */
int open_event(struct event_spec *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags);

/*
 * After a refusal: an ordinary user may often see user space only. True when attr was
 * narrowed to that and the event renamed (cycles:u), so that opening can be tried again.
 */
bool open_narrow(struct event_spec *s, struct perf_event_attr *attr, struct arena *names,
		 bool system_wide, int code);

#endif
