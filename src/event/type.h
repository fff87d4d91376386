/* SPDX-License-Identifier: MIT */
/*
 * What kinds of events a trace has, and the fields of those that have any.
 *
 * Fields come from the kernel's own format text (tracefs "format" files, the
 * TRACING_DATA of perf.data, trace.dat's formats); they are parsed, never guessed.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "event/event.h"
#include "event/field.h"
#include "event/role.h"

/* Who counts or tells: the kernel's kinds, in its order. */
enum type_class {
	TYPE_HARDWARE,
	TYPE_SOFTWARE,
	TYPE_TRACEPOINT,
	TYPE_CACHE,
	TYPE_RAW,
	TYPE_BREAKPOINT,
	TYPE_SYNTH, /* made by perf out of hardware traces */
	TYPE_OTHER, /* another PMU */
	TYPE_CLASSES,
};

/*
 * What the samples of a type bring (type->has): EVENT_HAVE_*, and of what stands in
 * event->extra the following. Some samples may lack what others of the type have.
 */
#define TYPE_HAS_READ (1u << 11)
#define TYPE_HAS_BRANCHES (1u << 12)
#define TYPE_HAS_BRANCH_STACK (1u << 13) /* and they are the calls that have not returned */
#define TYPE_HAS_USER_REGS (1u << 14)
#define TYPE_HAS_INTR_REGS (1u << 15)
#define TYPE_HAS_STACK (1u << 16)
#define TYPE_HAS_WEIGHT (1u << 17)
#define TYPE_HAS_WEIGHT_PARTS (1u << 18) /* latencies of instruction and retirement beside it */
#define TYPE_HAS_DATA_SRC (1u << 19)
#define TYPE_HAS_TRANSACTION (1u << 20)
#define TYPE_HAS_PHYS_ADDR (1u << 21)
#define TYPE_HAS_CGROUP (1u << 22)
#define TYPE_HAS_DATA_PAGE (1u << 23)
#define TYPE_HAS_CODE_PAGE (1u << 24)
#define TYPE_HAS_STREAM_ID (1u << 25)
#define TYPE_HAS_AUX (1u << 26)
#define TYPE_HAS_VALUES (1u << 27) /* no samples, but EVENT_COUNTER: what was counted when */

struct event_type {
	const char *name;	    /* "cycles:u", "sched:sched_switch" */
	const char *system, *event; /* of a tracepoint: "sched", "sched_switch"; NULL otherwise */
	enum type_class class;
	enum event_role role;
	unsigned has;	   /* what its samples bring */
	unsigned excludes; /* EXCLUDES_*: who has none */
	bool from_exec;	   /* there are none before a command began */
	bool by_rate;	   /* rate is so many samples a second; else a sample each so many events */
	uint64_t rate;	   /* 0: not known */
	uint16_t max_stack; /* frames that were asked for; 0: as many as usual */
	/* The kernel's numbers of who counts, and what: types with the same two are the same. */
	uint32_t pmu;
	uint64_t code;
	const char *group_name; /* of a leader, when the group has a name */
	int leader;		/* index of the group's leader; its own when alone */
	const uint64_t *ids;
	size_t n_ids;
	struct field *fields; /* NULL until there is a format */
	size_t n_fields;
	const char *print_fmt;	      /* NULL until there is a format */
	const struct printfmt *print; /* the same, compiled (event/text.h); NULL: not understood */
	uint32_t format_id;	      /* the kernel's number of the tracepoint */
	const char *unit; /* what weight counts: NULL for the event itself, "ns" for times */
	bool spans;	  /* weight is how long it lasted, up to the event's time */
	bool sums;	  /* of them, those without a CPU are several: nobody knows when each was */
	const char *count_unit; /* of counts ("msec", "Joules"); NULL: none */
};

/* One thing about how a type was set up. */
typedef void setting_fn(void *ctx, const char *name, const char *value);

/* It has no samples and only brings news of processes. */
static inline bool type_is_dummy(const struct event_type *t)
{
	return t->role == ROLE_DUMMY;
}

/* When a sample was, as far as it is known; 0: it is not. */
static inline uint64_t type_time(const struct event_type *t, uint64_t time, uint32_t cpu)
{
	return t->sums && cpu == UINT32_MAX ? 0 : time;
}

/* A tracepoint of which not every hit is there: -F and -c are for tracepoints, too. */
static inline bool type_is_thinned(const struct event_type *t)
{
	return t->n_fields && (t->by_rate || t->rate > 1);
}

/* Parses a format text: fields, print_fmt, format_id, and event when it is NULL, from a. What makes
 * no sense is an error, and nothing is set then. */
int type_parse_format(struct event_type *t, struct arena *a, const char *text, size_t n,
		      struct err *e);

/* NULL when there is none of that name. */
const struct field *type_field(const struct event_type *t, const char *name);
