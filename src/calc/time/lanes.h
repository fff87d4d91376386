/* SPDX-License-Identifier: MIT */
/*
 * What timelines are made of: who ran on a CPU from when on, and system calls
 * from their beginning to their end, read out of the events of a recording.
 */
#ifndef KYMO_CALC_TIME_LANES_H
#define KYMO_CALC_TIME_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "event/trace.h"

/* Switches come from sched:sched_switch, or where there is none from SWITCH records. */
struct lanes {
	const struct trace *trace;
	const struct event_type *type; /* sched_switch; NULL: none */
	const struct field *prev_comm, *prev_tid, *prev_prio, *prev_state;
	const struct field *next_comm, *next_tid, *next_prio;
	struct map current; /* by CPU: who runs, + 1; only of SWITCH records */
};

/* A name as it was recorded: n bytes. */
struct lane_name {
	const char *text;
	size_t n;
};

struct lane_switch {
	int32_t prev, next; /* threads; -1 when only the other one is known */
	struct lane_name prev_comm, next_comm;
	int32_t prev_prio, next_prio; /* 0 when not known */
	int64_t state;		      /* prev's, in the kernel's bits; 0: it could have run on */
};

void lanes_init(struct lanes *l, const struct trace *t);
void lanes_free(struct lanes *l);
/*
 * Is ev a switch? Then *ret says which; its names hold as long as the event. To be
 * asked about events in their order.
 */
bool lanes_switch(struct lanes *l, const struct event *ev, struct lane_switch *ret);

enum lane_call { LANE_NO_CALL, LANE_ENTER, LANE_EXIT };
/* Is it an event of system calls, of one (syscalls:) or of all (raw_syscalls:)? */
enum lane_call lanes_call(const struct event_type *t);
/* The call's name: "read", or "syscall 17" where only its number was recorded. */
const char *lanes_call_name(const struct event_type *t, const struct event *ev, char *buf,
			    size_t size);

#endif
