/* SPDX-License-Identifier: MIT */
/*
 * Time in which CPUs had nothing to do.
 *
 * A recording of a whole machine has samples of the idle loop, on a machine that rests hardly any
 * others. They say nothing about programs, so views for people leave them out and say how much it
 * was; what is handed to other programs keeps everything.
 *
 * A sample is idle when it was in one of the kernel's functions that wait for work. Interrupts that
 * came meanwhile are samples of the idle task, too, but they are work, and stay.
 */
#pragma once

#include "calc/profile/names.h"
#include "calc/stacks/stacks.h"

struct idle {
	double weight, all; /* all: with what is left */
};

/* Is this function of the kernel one in which CPUs wait for work? */
bool idle_is_function(const char *name);

/* Take the idle entries out of a profile and its names, and out of its totals. */
void idle_leave_out(struct profile *p, struct names *n, struct idle *ret);
/* The same with stacks; added to *ret. */
void idle_leave_out_stacks(struct stacks *s, struct idle *ret);

/* "98.7% of the time ...": what is to be said; "" when nothing was idle. */
const char *idle_words(const struct idle *i, char *buf, size_t size);
