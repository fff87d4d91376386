/* SPDX-License-Identifier: MIT */
/*
 * What kinds of events a trace has, and the fields of those that have any.
 *
 * Fields come from the kernel's own format text (tracefs "format" files, the
 * TRACING_DATA of perf.data, trace.dat's formats); they are parsed, never guessed.
 */
#ifndef KYMO_EVENT_TYPE_H
#define KYMO_EVENT_TYPE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/event.h"

enum field_kind {
	FIELD_INT,	/* 1, 2, 4 or 8 bytes */
	FIELD_STRING,	/* char array in place, maybe without its NUL */
	FIELD_ARRAY,	/* of integers; elem_size each */
	FIELD_DATA_LOC, /* u32: offset | size << 16, from the record's start */
	FIELD_REL_LOC,	/* the same, from the end of this field */
	FIELD_OTHER,	/* struct or pointer to show as bytes */
};

struct field {
	const char *name;
	const char *type; /* as the format text has it: "unsigned int", "char[16]" */
	uint32_t offset, size, elem_size;
	enum field_kind kind;
	bool is_signed;
	bool is_string;	 /* for the *_LOC kinds: char[] */
	bool is_common;	 /* common_type, common_pid ... */
	bool is_pointer; /* shown in hex */
	bool swapped;	 /* the record is of the other endian; field_int() knows */
};

struct event_type {
	const char *name;	     /* "cycles:u", "sched:sched_switch" */
	const char *system, *event;  /* of a tracepoint: "sched", "sched_switch"; NULL otherwise */
	struct perf_event_attr attr; /* zero-extended; all zero for sources that have none */
	const char *group_name;	     /* of a leader, when the group has a name */
	int leader;		     /* index of the group's leader; its own when alone */
	const uint64_t *ids;
	size_t n_ids;
	struct field *fields; /* NULL until there is a format */
	size_t n_fields;
	const char *print_fmt;	      /* NULL until there is a format */
	const struct printfmt *print; /* the same, compiled (event/text.h); NULL: not understood */
	uint32_t format_id; /* the kernel's number of the tracepoint; attr.config when it has one */
	const char *unit;   /* what weight counts: NULL for the event itself, "ns" for times */
	bool spans;	    /* weight is how long it lasted, up to the event's time */
	bool sums; /* of them, those without a CPU are several: nobody knows when each was */
	const char *count_unit; /* of what stat shows ("msec", "Joules"); NULL: none */
};

/* It has no samples and only brings news of processes. */
static inline bool type_is_dummy(const struct event_type *t)
{
	return t->attr.type == PERF_TYPE_SOFTWARE && t->attr.config == PERF_COUNT_SW_DUMMY;
}

/* When a sample was, as far as it is known; 0: it is not. */
static inline uint64_t type_time(const struct event_type *t, uint64_t time, uint32_t cpu)
{
	return t->sums && cpu == UINT32_MAX ? 0 : time;
}

/* A tracepoint of which not every hit is there: -F and -c are for tracepoints, too. */
static inline bool type_is_thinned(const struct event_type *t)
{
	return t->n_fields && t->attr.size && (t->attr.freq || t->attr.sample_period > 1);
}

/*
 * Parse a format text into t (strings and fields from a). Lines that make no
 * sense are an error; nothing is half set then. Sets fields, print_fmt, format_id,
 * and event when it is NULL.
 */
int type_parse_format(struct event_type *t, struct arena *a, const char *text, size_t n,
		      struct err *e);

/* NULL when there is none of that name. */
const struct field *type_field(const struct event_type *t, const char *name);

/* A field's integer value, sign extended; false when it is none or lies outside the record. */
bool field_int(const struct field *f, const void *raw, size_t raw_size, int64_t *ret);
/* A string field's bytes (not NUL-terminated; *n tells); false when it is none or lies outside. */
bool field_str(const struct field *f, const void *raw, size_t raw_size, const char **ret,
	       size_t *n);
/* Where the field's bytes are, the *_LOC kinds followed; false when they lie outside the record. */
bool field_bytes(const struct field *f, const void *raw, size_t raw_size, const void **ret,
		 size_t *n);

#endif
