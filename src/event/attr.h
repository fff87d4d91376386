/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr: as text, in perf's words, and what it means to who knows types only. */
#pragma once

#include <linux/perf_event.h>

#include "base/err.h"
#include "base/str.h"
#include "event/type.h"

/* Calls fn for each field that is set. */
void attr_each(const struct perf_event_attr *attr, setting_fn *fn, void *ctx);

/* Kinds of branches as record -j has them ("any,u") to bits, which are added to *ret. */
int attr_branches(const char *list, uint64_t *ret, struct err *e);

enum event_role attr_role(const struct perf_event_attr *attr);
unsigned attr_excludes(const struct perf_event_attr *attr); /* EXCLUDES_* */

/* What a type with this attr is: class, role, what its samples have, how often there is one. */
void attr_type(const struct perf_event_attr *attr, struct event_type *t);
