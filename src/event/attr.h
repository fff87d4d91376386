/* SPDX-License-Identifier: MIT */
/* struct perf_event_attr as text, in perf's words. */
#ifndef KYMO_EVENT_ATTR_H
#define KYMO_EVENT_ATTR_H

#include <linux/perf_event.h>

#include "base/str.h"

/* Called for each field that is set: attr_text() below, or what a writer wants. */
typedef void attr_fn(void *ctx, const char *name, const char *value);
void attr_each(const struct perf_event_attr *attr, attr_fn *fn, void *ctx);

#endif
