/* SPDX-License-Identifier: MIT */
/*
 * A recording for other programs: one writer a format, all over the same named
 * profile and, where a format shows single events, the events in time order.
 *
 * Names of processes, functions and files come from the recording and are any
 * bytes; every writer escapes them, and makes UTF-8 of them where its format
 * wants that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/out.h"
#include "calc/profile/names.h"
#include "event/trace.h"

struct export_job {
	struct source *source;
	const struct profile *profile; /* one entry a sample for formats that say so below */
	const struct names *names;
	struct symbols *symbols;
	struct out *out;
	const char *input; /* what the recording is called */
	/* Is the event wanted? It may be of any kind. */
	bool (*wants)(void *ctx, const struct event *ev);
	/* Is the thread, at the time and CPU of ev? A switch may be wanted for the other one. */
	bool (*wants_thread)(void *ctx, const struct event *ev, int32_t tid);
	void (*progress)(void *ctx, size_t done, size_t all);
	/* The path of a control group; NULL when not known. */
	const char *(*cgroup)(void *ctx, uint64_t id);
	void *ctx;
	uint32_t *order;  /* by export_prepare(): the profile's entries by time */
	uint64_t written; /* samples and events; the writer counts */
	const char *only; /* the one event that was written, of a format that has only one */
};

typedef int export_fn(struct export_job *x, struct err *e);

/* What a format needs to be counted and named before its writer is called. */
struct export_format {
	const char *name, *suffix;
	const char *what; /* one line for help */
	unsigned by;	  /* PROFILE_BY_*; 0: nothing is counted */
	bool inlines, binary;
	export_fn *write;
	bool by_file; /* the same code of a file is the same, whichever process had it */
	bool timed;   /* it is nothing without times */
};
/* NULL when there is none of that name. */
const struct export_format *export_find(const char *name);
extern const struct export_format export_formats[]; /* a NULL name at the end */

/* --- what the writers share --- */

void export_prepare(struct export_job *x);
void export_free(struct export_job *x);

/* The entry a sample of read_ordered() became; UINT32_MAX when it was left out. */
uint32_t export_entry(const struct export_job *x, const struct event *ev);

/* An entry's stack as sites, innermost first. buf is used where it has no chain. */
#define EXPORT_INLINES 64
uint32_t export_stack(const struct export_job *x, uint32_t entry, const uint32_t **sites,
		      uint32_t buf[EXPORT_INLINES]);

/* A site's function, or its address in hex (into buf of 32). */
const char *export_function(const struct export_job *x, uint32_t site, char *buf);
/* The build-id of a site's file in hex, "" when not known (into buf of 41). */
const char *export_build_id(const struct export_job *x, const struct task_map *map, char *buf);

/* Are weights of this type nanoseconds? */
/* A track of values: "cycles", "cycles CPU 1". Returns buf. */
char *export_counter_name(const struct event_type *t, const struct event *ev, char *buf,
			  size_t size);
bool export_is_time(const struct event_type *t);
/* Is it a tracepoint whose fields are known? */
static inline bool export_has_fields(const struct event_type *t, const struct event *ev)
{
	return ev->kind == EVENT_SAMPLE && (ev->have & EVENT_HAVE_RAW) && t->n_fields;
}

/* Wanted events in time order; all: side-band kinds, too. Calls x->progress. */
int export_events(struct export_job *x, bool all, event_fn *fn, void *ctx, struct err *e);

/* A tracepoint's fields as a JSON object. exact: integers as they are, however large. */
void export_fields(struct json *j, const char *key, const struct event_type *t,
		   const struct event *ev, bool exact);
/* One of them; nothing when it lies outside the record. */
void export_field(struct json *j, const char *key, const struct field *f, const struct event *ev,
		  bool exact);
/* Nanoseconds as a number with three decimals of the thousandfold, or six of the millionfold. */
void export_us(struct json *j, const char *key, uint64_t ns);
void export_ms(struct json *j, const char *key, uint64_t ns);

/* --- the writers --- */

export_fn export_folded, export_pprof, export_speedscope, export_firefox, export_perfetto,
	export_chrome, export_callgrind, export_json, export_csv;
