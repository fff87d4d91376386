/* SPDX-License-Identifier: MIT */
/*
 * Several recordings as one: a source around sources. Events are in the order of time on one
 * clock, those of equal times as the sources were given. Events of one name and layout are one
 * type; tasks of one number are one task.
 *
 * Clocks that differ are brought onto that of the first source where recordings say what the time
 * of the day was; else, and where recordings are of two machines, it is refused.
 */
#pragma once

#include "event/trace.h"

struct merge_input {
	struct source *source;
	const char *name; /* for messages, and of the part */
};

struct merge_opts {
	bool as_is; /* their times are compared as they are, whatever their clocks */
};

/* Takes the sources over; not on failure. trace->parts says which an event is of. */
int merge_new(const struct merge_input *in, size_t n, const struct merge_opts *o,
	      struct source **ret, struct err *e);
