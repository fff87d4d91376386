/* SPDX-License-Identifier: MIT */
/*
 * libpfm4: vendors' event names (INST_RETIRED:ANY_P) for this CPU. Built without it, none is known.
 */
#pragma once

#include <linux/perf_event.h>

#include "base/err.h"

/* -ENOENT when it is no name libpfm4 knows; -EINVAL with e when a part of it is wrong. */
int pfm_encode(const char *text, struct perf_event_attr *attr, struct err *e);

/* Every event of libpfm4's PMUs here: "NAME" or "NAME:UMASK". Stops at a non-zero answer. */
int pfm_each(int (*fn)(void *ctx, const char *pmu, const char *name, const char *about), void *ctx);
