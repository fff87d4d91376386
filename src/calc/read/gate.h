/* SPDX-License-Identifier: MIT */
/*
 * Events that open and close a recording, as --switch-on and --switch-off have it:
 * only what happened between them is looked at.
 *
 * Without one that opens it is open from the start; without one that closes it stays
 * open. Both themselves are left out unless they are asked for.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "event/event.h"
#include "event/trace.h"

/* Names as the recording has them; NULL when there is none. */
struct gate_opts {
	const char *on, *off;
	bool show; /* --show-on-off-events */
};

/* What lies between is open; the ends belong to the events of the gate alone. */
struct gate_span {
	uint64_t from, until;
};

struct gate {
	uint32_t on, off; /* types; UINT32_MAX: none */
	bool show, closed;
	VEC(struct gate_span) spans; /* of gate_learn() */
};

static inline bool gate_wanted(const struct gate_opts *o)
{
	return o->on || o->off;
}

int gate_make(struct gate *g, const struct gate_opts *o, const struct trace *t, struct err *e);
void gate_free(struct gate *g);

/* For events in the order of time: is this one to be seen? */
bool gate_passes(struct gate *g, const struct event *ev);

/* For events in any order, after all had been looked at once. */
int gate_learn(struct gate *g, struct source *s, struct err *e);
bool gate_passed(const struct gate *g, const struct event *ev);
