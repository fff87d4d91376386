/* SPDX-License-Identifier: MIT */
/* Counts of events by place (CPU, thread), by the kernel just now or from a recording. */
#pragma once

#include <sys/types.h>

#include "event/role.h"
#include "event/spec/spec.h"

/* How counts are summed; the numbers are those of perf.data. */
enum stat_by {
	STAT_CPU,
	STAT_GLOBAL,
	STAT_SOCKET,
	STAT_DIE,
	STAT_CORE,
	STAT_THREAD,
	STAT_UNSET,
	STAT_NODE
};

struct count {
	uint64_t value, enabled, running; /* as read; nanoseconds for the last two */
};

/* Where a count was taken. */
struct count_place {
	int cpu;   /* -1: whichever */
	pid_t tid; /* -1: whatever ran there */
};

struct count_event {
	const char *name, *unit, *cgroup; /* cgroup NULL when none */
	double scale;			  /* value times this is in unit */
	enum spec_kind kind;
	enum spec_tool tool; /* of SPEC_TOOL; else 0 */
	/* which events belong together: what they count, and whose */
	enum event_role role;
	unsigned excludes;	       /* EXCLUDES_* */
	const struct event_spec *spec; /* as it was counted; NULL in a recording */
	bool supported;
	bool of_pattern; /* it was not named itself: sched:* */
	int first;	 /* index of the event that this one's counts are added to; its own: none */
	int leader;	 /* of its group; its own index when alone */
	const char *group_name;	   /* of a leader, when the group has a name */
	struct count_place *place; /* ascending by CPU, then thread */
	struct count *count;	   /* of this interval or run, by place */
	size_t n_places;
};

/* Where a CPU sits. */
struct count_cpu {
	int socket, die, core, node;
};

struct count_set {
	struct count_event *event;
	size_t n;
	/* of a recording: the CPUs of its machine, by number; NULL: this machine's */
	const struct count_cpu *cpu;
	size_t n_cpus;
};
