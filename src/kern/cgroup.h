/* SPDX-License-Identifier: MIT */
/* Control groups: finding the directory that perf_event_open wants. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/*
 * A cgroup's directory (below the hierarchy's root) for PERF_FLAG_PID_CGROUP: in v1 with the
 * perf_event controller, else in v2. A descriptor, or -errno.
 */
int cgroup_open(const char *name, struct err *e);

/* The path of a v2 cgroup below the root ("/user.slice") by its id; false: there is none. */
bool cgroup_path(uint64_t id, struct strbuf *b);

/* Where that hierarchy is mounted, or NULL. */
const char *cgroup_root(void);
