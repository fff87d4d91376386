/* SPDX-License-Identifier: MIT */
/* What an event of a recording is opened with. */
#ifndef KYMO_LIVE_CAPTURE_ATTR_H
#define KYMO_LIVE_CAPTURE_ATTR_H

#include "live/capture.h"

/* many: several events share the rings, so samples must say whose they are. */
int capture_attr(const struct capture_opts *o, const struct event_spec *s, const struct target *t,
		 bool many, bool tracking, struct perf_event_attr *ret, struct err *e);

/* The highest rate that the kernel allows now. */
uint64_t capture_max_freq(void);

#endif
