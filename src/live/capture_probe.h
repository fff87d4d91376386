/* SPDX-License-Identifier: MIT */
/* Before a recording: what of the events this machine's processor has. */
#ifndef KYMO_LIVE_CAPTURE_PROBE_H
#define KYMO_LIVE_CAPTURE_PROBE_H

#include "live/capture.h"

/*
 * Without a PMU the first hardware event becomes cpu-clock and the others are left
 * out, each told through o->fallback. Precise samples asked for where there are none
 * (:p, :pp, :ppp, but not :P) are an error.
 */
int capture_probe(struct spec_list *l, const struct capture_opts *o, struct err *e);

#endif
