/* SPDX-License-Identifier: MIT */
/* Filters on tracepoint fields: making them understood, and saying why they are not. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "event/spec/spec.h"

/* The kernel wants strings quoted (prev_comm != "perf"): puts quotes around bare words behind ==
 * != ~. */
char *filter_quote(struct arena *a, const char *text);

/* Does this error of the kernel's mean a wrong filter? EINVAL, or 1 to 3, its own numbers for
 * parentheses and quotes. */
bool filter_is_bad(int code);

/* Asks the kernel what is wrong with a filter it refused (in a tracefs instance of its own).
 * -EINVAL. */
int filter_explain(const char *tracefs, const char *subsys, const char *event, const char *filter,
		   struct err *e);

/* Give an open event its filter, if it has one; with quotes put in where that makes it work. */
int filter_set(struct event_spec *s, struct arena *a, int fd, struct err *e);
