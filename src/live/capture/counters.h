/* SPDX-License-Identifier: MIT */
/*
 * Counting: events opened on a target, switched on and off, and read.
 *
 * Fills a struct count_set (event/count.h) with what has passed since counters_open() or the last
 * counters_read(). What cannot be counted here is marked unsupported; only what the user must act
 * upon (no permission, too many open files) is an error.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "event/count.h"
#include "event/spec/spec.h"
#include "live/target.h"

struct counters_opts {
	bool inherit; /* count the children too */
	bool on_exec; /* start counting when the command execs */
	/* Called once when kernel work is left out because the user may not see it. May be NULL. */
	void (*narrowed)(void *ctx, const struct event_spec *s);
	void *ctx;
};

struct counters;

/* cgroups[i] names the cgroup of spec i (NULL: none); NULL: there are none. Specs may be renamed
 * (cycles becomes cycles:u) when the kernel may not be looked at. */
int counters_open(struct spec_list *specs, const char *const *cgroups, const struct target *t,
		  const struct counters_opts *o, struct counters **ret, struct err *e);

/* Put the counts since the last call into set, whose events counters_open made. */
int counters_read(struct counters *c, struct err *e);
struct count_set *counters_set(struct counters *c);
/* Put everything counted since counters_open() up to the last read into the set instead. */
void counters_totals(struct counters *c);

int counters_enable(struct counters *c, struct err *e);
int counters_disable(struct counters *c);

/* One event by its name. -ENOENT: there is none of that name. */
int counters_switch(struct counters *c, const char *name, bool on);

/* Why the i-th event is not supported: the errno of opening it; 0 when it is. */
int counters_refusal(const struct counters *c, size_t i);

/* What takes the kernel long is left to a child (live/attached.h). */
void counters_close(struct counters *c);
