/* SPDX-License-Identifier: MIT */
/*
 * Analyses: events in, tables out.
 *
 * An analysis is one file in this folder and one line in registry.c. Commands, completion, man
 * pages and every view find it there; it knows none of them, nor where its events come from: a
 * recording of any kind, or what happens now.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "calc/table/table.h"
#include "event/trace.h"

/* An event that an analysis looks at, and the fields it reads, each found once. */
#define ANALYSIS_FIELDS 6
struct analysis_event {
	const char *name; /* "kmem:kmalloc" */
	int role;	  /* the analysis's own number for it, not 0 */
	const char *field[ANALYSIS_FIELDS];
};

/* What an analysis may ask; all of it outlives the run. */
struct analysis_env {
	const struct trace *trace;
	const void *args; /* of the analysis's args_size; NULL where that is 0 */
	/* A kernel function's name and where it begins; NULL: unknown. It may be missing. */
	const char *(*name)(void *ctx, uint64_t addr, uint64_t *start);
	void *ctx;
};

struct analysis {
	const char *name;    /* "kmem-tasks" */
	const char *summary; /* one line, no capital, no full stop */
	/*
	 * What it can use, a zeroed one at the end. At least one must be in what it looks at. NULL:
	 * any event; role and values are 0 then.
	 */
	const struct analysis_event *events;
	const char *record; /* what to type for a recording that has them */
	const char *show;   /* and what to type then */
	const char *sort;   /* how rows are sorted unless asked otherwise; NULL: as they come */

	size_t args_size; /* of what it can be told; 0: nothing */
	size_t state_size;
	/* Before the first event; state is zeroed. NULL: nothing is to be done. */
	int (*begin)(void *state, const struct analysis_env *env, struct err *e);
	/* Samples in the order of time; role and fields are those of the event. */
	void (*add)(void *state, int role, const struct event *ev, const int64_t *values);
	void (*end)(void *state, const struct analysis_env *env, struct tables *ret);
	void (*drop)(void *state); /* frees what state holds */
};

/* Each has a file, a line here and one in registry.c. */
extern const struct analysis analysis_hist, analysis_kmem_tasks, analysis_profile;
extern const struct analysis *const analyses[]; /* NULL at the end */
/* A row for each: what lists, man pages and --introspect say of them. */
void analyses_table(struct tables *ret);
/* "kmem:kmalloc, kmem:kfree": what it can use; "any" */
void analysis_events(const struct analysis *a, struct strbuf *ret);

struct analysis_run;
/*
 * -ENODATA, with the command that records them in e, when the trace has none of its events.
 * On failure *ret is untouched.
 */
int analysis_begin(const struct analysis *a, const struct analysis_env *env,
		   struct analysis_run **ret, struct err *e);
/* An event_fn: ctx is the run. Events it does not look at are passed over. */
int analysis_add(void *ctx, const struct event *ev);
/*
 * May be asked again and again while events come. sort NULL: as the analysis has it. Of several
 * tables those are sorted that have the columns; none has them: -EINVAL.
 */
int analysis_tables(struct analysis_run *run, const char *sort, struct tables *ret, struct err *e);
void analysis_end(struct analysis_run *run); /* NULL is fine */
