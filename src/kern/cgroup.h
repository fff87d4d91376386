/* SPDX-License-Identifier: MIT */
/* Control groups: finding the directory that perf_event_open wants. */
#ifndef KYMO_KERN_CGROUP_H
#define KYMO_KERN_CGROUP_H

#include "base/err.h"

/*
 * Open the directory of the cgroup (a path below the hierarchy's root, with or
 * without the leading /) for PERF_FLAG_PID_CGROUP: in the v1 hierarchy with the
 * perf_event controller, else in v2. A descriptor, or -errno.
 */
int cgroup_open(const char *name, struct err *e);

/* Where that hierarchy is mounted, or NULL. */
const char *cgroup_root(void);

#endif
