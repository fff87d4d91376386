/* SPDX-License-Identifier: MIT */
/*
 * Setting up the kernel's tracers: what is to be traced, in which instances, and
 * putting everything back.
 *
 * Events and functions are traced in an instance of our own wherever the kernel can
 * do it; tracers that instances cannot have (function_graph before Linux 6.5, blk,
 * mmiotrace ...) are set in the top instance, whose settings come back afterwards.
 * ftrace_enabled is never written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kern/undo.h"

struct ftrace_event_opt {
	const char *name;    /* "sched", "sched:sched_switch", "irq:*", "all" */
	const char *filter;  /* NULL: none */
	const char *trigger; /* NULL: none; one a line */
	bool off;	     /* -v: these are turned off again */
};

typedef VEC(const char *) ftrace_names_list;

/* One instance. Texts are borrowed. */
struct ftrace_buffer_opt {
	const char *name; /* of -B; NULL: our own, or the top one where it must be */
	const char *tracer, *clock, *cpumask;
	VEC(struct ftrace_event_opt) events;
	ftrace_names_list functions, no_functions, graph, no_graph, options;
	const char *module; /* only functions of this module */
	uint64_t size_kb;   /* of each CPU's buffer; 0: as it is */
	bool remove;	    /* -v -B: this instance goes */
};

struct ftrace_opts {
	VEC(struct ftrace_buffer_opt) buffers; /* at least one */
	VEC(pid_t) pids;		       /* only these threads; empty: all */
	bool children;			       /* and what they start */
	bool event_stack, func_stack;
	int max_depth;	     /* of function_graph; 0: any */
	uint64_t thresh_us;  /* tracing_thresh; 0: as it is */
	bool ignore_missing; /* -i: events that are not there are no error */
	bool top;	     /* always the top instance, as trace-cmd */
	bool keep;	     /* what is set stays, until kymo ftrace reset (start, set) */
	bool all_formats;    /* those of events that are not traced as well */
	bool append;	     /* set: nothing that was set before is cleared */
	uint64_t cmdlines;   /* saved_cmdlines_size; 0: as it is */
};

struct ftrace_buffer {
	char *dir;
	char *name; /* as the file has it: "" for the first */
	bool own;   /* made by us */
	bool is_top;
	bool own_inside; /* records of kymo's own threads are in its pages */
	struct ftrace_buffer_opt *opt;
};

struct ftrace {
	const char *root;
	struct undo *undo;
	struct ftrace_opts *o;
	VEC(struct ftrace_buffer) buffers;
	struct arena names; /* of functions, as the kernel has them */
	char note[256];	    /* one line about what was done otherwise than asked; "" */
};

/* Buffers and settings, all but switched on. ftrace_close() also after a failure. */
int ftrace_open(struct ftrace *f, struct ftrace_opts *o, struct err *e);
/* Threads that are to be left out (the recorder's own). */
int ftrace_exclude(struct ftrace *f, const pid_t *tids, size_t n, struct err *e);
/* A trace option of one buffer: NAME, or noNAME to turn it off. */
int ftrace_put_option(struct ftrace *f, const struct ftrace_buffer *b, const char *text,
		      struct err *e);
int ftrace_pids(struct ftrace *f, struct err *e); /* after o->pids changed */
/* Enable events and tracers, then the buffers. */
int ftrace_start(struct ftrace *f, struct err *e);
int ftrace_stop(struct ftrace *f, struct err *e);
/* Everything back as it was; how many things could not be put back. */
int ftrace_close(struct ftrace *f);

/* What was set stays: nothing is put back by ftrace_close(). */
void ftrace_forget(struct ftrace *f);

/* Tracers that keep the worst case they met, as text: wakeup, irqsoff ... */
bool ftrace_is_latency(const char *tracer);

/* A file of an instance: DIR/NAME. */
int ftrace_get(const char *dir, const char *name, char **ret, size_t *n, struct err *e);
/* Written there, not to be put back. */
int ftrace_set(const char *dir, const char *name, const char *value, struct err *e);
/* The same in an instance that is ours; else it is noted how to take it back. */
int ftrace_put(struct ftrace *f, const struct ftrace_buffer *b, const char *name, const char *value,
	       struct err *e);

/* The instance of start, and the name of its journal. */
#define FTRACE_KEPT "kymo"
/* The directory that the verbs without -B are about: what start left, else the top one. */
char *ftrace_dir(const char *root, const char *name, struct err *e);
/* Take back what start and set did. */
int ftrace_reset_kept(const char *root);
/* Only in one instance. */
int ftrace_reset_kept_in(const char *dir);
/* A setting of it, where the kernel has that. */
int ftrace_reset_put(const char *dir, const char *name, const char *value, struct err *e);
/* Put an instance to rest, whoever set it: no tracer, no events, no filters, default clock. */
int ftrace_reset_dir(const char *dir, struct err *e);

/* The tracefs directory; also tells apart "not mounted" and "not allowed". */
const char *ftrace_root(struct err *e);

/* fn for each event directory that name means, as "sched/sched_switch"; the number of them. */
int ftrace_match_events(const char *root, const char *name,
			int (*fn)(void *ctx, const char *system, const char *event, struct err *e),
			void *ctx, struct err *e);
/* Enable what one option says. */
int ftrace_event_set(struct ftrace *f, const struct ftrace_buffer *b,
		     const struct ftrace_event_opt *ev, struct err *e);

/* Switch on every disk that has a size, until f is closed; f->note says which. */
int ftrace_blk_devices(struct ftrace *f, struct err *e);

/* Whether its directory has the file. */
bool ftrace_has(const struct ftrace_buffer *b, const char *name);
/* Adds a buffer to f and makes its instance; a tracer that the kernel has not is refused. */
int ftrace_open_buffer(struct ftrace *f, struct ftrace_buffer_opt *o, struct err *e);
