/* SPDX-License-Identifier: MIT */
/* Who ran on a CPU from when on, read out of the events of a recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "event/trace.h"

/* Switches come from sched:sched_switch, or where there is none from SWITCH records. */
struct switches {
	const struct trace *trace;
	const struct event_type *type; /* sched_switch; NULL: none */
	const struct field *field[7];
	struct map current; /* by CPU: who runs, + 1; only of SWITCH records */
};

/* A name as it was recorded: n bytes. */
struct switch_name {
	const char *text;
	size_t n;
};

struct switch_seen {
	int32_t prev, next; /* threads; -1 when only the other one is known */
	struct switch_name prev_comm, next_comm;
	int32_t prev_prio, next_prio; /* 0 when not known */
	int64_t state;		      /* prev's, in the kernel's bits; 0: it could have run on */
};

void switches_init(struct switches *l, const struct trace *t);
void switches_free(struct switches *l);
/*
 * Is ev a switch? Then *ret says which; its names hold as long as the event. To be
 * asked about events in their order.
 */
bool switches_look(struct switches *l, const struct event *ev, struct switch_seen *ret);
