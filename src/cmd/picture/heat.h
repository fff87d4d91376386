/* SPDX-License-Identifier: MIT */
/* Between heat.c (options), heat_what.c (what is measured), heat_read.c and heat_draw.c. */
#pragma once

#include "base/map.h"
#include "calc/time/heat.h"
#include "calc/slices/slices.h"
#include "cmd/picture/picture.h"
#include "event/trace.h"
#include "kern/cpu.h"
#include "kern/proc.h"

enum heat_kind {
	HEAT_NONE, /* nothing was asked for: points as text, or what a recording holds */
	HEAT_BLOCK,
	HEAT_SYSCALL,
	HEAT_SCHED,
	HEAT_PAIR,
	HEAT_FIELD,
	HEAT_SUBSECOND,
};

struct heat_args {
	PICTURE_HEAD; /* first: see picture.h */
	enum heat_kind kind;
	const char *syscall, *pair, *field, *label;
	char *guessed; /* owned: system calls found in a recording */
	bool insert, open;
	const char *duration;
	const char *input, *output, *title, *subtitle, *time_unit, *unit, *what;
	const char *min, *max;
	bool text, linear, quiet;
	int rows, columns, width, height;
};

/* How many ns a unit is; 0 when it is none of time. */
double heat_in_ns(const char *unit);

/* What is measured, in words for titles: "latency of read". To be freed. */
char *heat_words(const struct heat_args *a);
/* The pair that an option means; only for the kinds that are pairs. */
int heat_spec(const struct heat_args *a, struct slice_rule *ret, struct err *e);
/* "sched:sched_stat_runtime:runtime": the event, to be freed, and the field inside of text. */
int heat_field(const char *text, char **event, const char **field, struct err *e);
/* The events that must be recorded for it, as -e takes them; NULL: the usual ones. To be freed. */
int heat_events(const struct heat_args *a, char **ret, struct err *e);
/* May a begin be one task's and its end another's? */
bool heat_crosses_tasks(const struct heat_args *a);
/* What a recording is good for, when the user did not say. */
int heat_guess(struct heat_args *a, const struct trace *t, struct err *e);

/* Points as lines of text. */
int heat_read_lines(const struct heat_args *a, const char *path, struct heat_points *p,
		    struct err *e);
/* What is not in the picture, and of an empty one, why it is. */
void heat_say_pairs(const struct heat_args *a, const struct slice_rule *s,
		    const struct slices_counts *c, struct heat_points *p);
void heat_say_no_values(const struct heat_args *a, const char *event, const char *field,
			uint64_t seen, struct heat_points *p);

/* Do the events of t have the fields that are asked for? Events that it has not do not matter. */
int heat_check(const struct heat_args *a, const struct trace *t, struct err *e);

/*
 * kymo heat without a recording: its events from an instance of tracefs, and whose they are.
 *
 * Not through perf: there are kernels that hand perf hardly anything of what happens while a CPU
 * idles, and that is when disks answer and tasks are woken. perf is what is left where tracefs
 * is refused, or does not have the event.
 */
/* Who is measured, found out while events are read in order: threads are born and get names. */
struct heat_whom {
	bool some;	  /* only threads of `tids`, and what they start */
	struct map tids;  /* theirs: 1; the recorder's own: 2 */
	struct cpus cpus; /* n 0: all */
	bool until_named; /* a command counts from its exec on */
	struct map names; /* of threads: id in strings + 1 */
	struct strtab strings;
	struct map owners; /* of requests that wait in a queue: who put them there */
	uint32_t insert, complete;
	uint32_t newtask, rename; /* types that are only there for this; UINT32_MAX: none */
	bool live;
};

/* A field's number, where the event has it. */
bool heat_int(const struct trace *t, const struct event *ev, const char *name, int64_t *ret);
/* The types and fields of a source that was captured for w. */
void heat_whom_begin(struct heat_whom *w, const struct trace *t);
/* Learn from an event; false when it is to be passed over altogether. */
bool heat_whom_see(struct heat_whom *w, const struct trace *t, const struct event *ev);
/* Who an event is of: whom the scheduler's are about, and who queued what a kernel thread issues.
 */
int32_t heat_whom_of(const struct heat_whom *w, const struct trace *t, const struct event *ev);
/* Is what begins with it, or what it says, to be shown? */
bool heat_whom_has(const struct heat_whom *w, const struct trace *t, const struct event *ev,
		   bool any_cpu);
/* The name that a thread has now; NULL when it is not known. */
const char *heat_whom_name(struct heat_whom *w, int32_t tid);
void heat_whom_free(struct heat_whom *w);

/*
 * Capture what a asks for while command (may be NULL) runs, for a->duration, or until Ctrl-C.
 * 1: *ret is the source; 0: it has to be perf, and why says why; or -errno.
 */
int heat_live(const struct heat_args *a, char **command, struct heat_whom *w, struct source **ret,
	      struct err *why, struct err *e);

/* Read points from text or from a recording; *details only where they will be shown. */
int heat_read(struct heat_args *a, const char *path, bool details, struct heat_points *p,
	      struct err *e);
/* The same of events that were just captured, of whom w says. */
int heat_read_live(struct heat_args *a, struct source *s, struct heat_whom *w, bool details,
		   struct heat_points *p, struct err *e);

int heat_draw(const struct heat_args *a, const struct heat_points *p, const char *path,
	      struct err *e);
/* Seconds and a flame graph, in one page. */
int heat_draw_seconds(const struct heat_args *a, const char *input, const char *path,
		      struct err *e);
