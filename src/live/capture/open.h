/* SPDX-License-Identifier: MIT */
/* Inside capture: its events opened on each place, with rings. */
#pragma once

#include "live/capture/capture.h"

/* What tracks tasks has rings of its own. */
static inline bool capture_split(const struct capture *c)
{
	return c->opts.overwrite || c->opts.apart;
}

/* The ring that an event's records of a place go to. */
size_t capture_ring_of(const struct capture *c, const struct capture_event *ev, size_t place);

/* All events on all pairs of CPUs and threads; c has its events and (closed) rings. */
int capture_open_all(struct capture *c, struct err *e);

/*
 * Which events this machine has. Without a PMU cycles become cpu-clock, told through o->fallback;
 * others are an error, and so are precise samples where there are none (:p, :pp, :ppp, not :P).
 */
int capture_probe(struct spec_list *l, const struct capture_opts *o, struct err *e);
