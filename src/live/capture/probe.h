/* SPDX-License-Identifier: MIT */
/* Before a recording: what of the events this machine's processor has. */
#ifndef KYMO_LIVE_CAPTURE_PROBE_H
#define KYMO_LIVE_CAPTURE_PROBE_H

#include "live/capture/capture.h"

/*
 * Without a PMU cycles become cpu-clock, told through o->fallback; other events that this machine
 * has not are an error, and so are precise samples where there are none (:p, :pp, :ppp, but not
 * :P).
 */
int capture_probe(struct spec_list *l, const struct capture_opts *o, struct err *e);

#endif
