/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel's trace buffer as lines of text, the way trace-cmd report
 * words them: its columns, and its own layout for functions, stacks, switches and
 * some other events in place of their print formats.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "base/vec.h"
#include "event/trace.h"
#include "view/ftrace/names.h"

struct ftrace_text_opts {
	void *tep;			/* of the recording (event/text.h) */
	uint32_t long_size;		/* of its machine: 4 or 8 */
	bool swap;			/* which was of the other endian */
	bool latency;			/* narrow columns with what interrupts were doing */
	bool nsec;			/* nine digits instead of six */
	bool raw_time;			/* stamps are no times */
	bool raw;			/* fields instead of words, for all events */
	bool diff;			/* time since the record before */
	bool diff_nsec;			/* that one in nanoseconds, whatever the times are in */
	bool plain;			/* print formats only, no layout of our own */
	bool boundaries;		/* where pages begin */
	bool tail, depth;		/* function_graph: name at the end, depth behind */
	bool parent, offset, no_indent; /* function: who called; offsets; no indenting */
	const struct tasks *mapped;	/* user stacks as files and offsets; NULL: addresses */
};

struct ftrace_text;
/* names may be NULL; both are kept, not owned. */
struct ftrace_text *ftrace_text_new(const struct ftrace_text_opts *o, const struct trace *trace,
				    struct ftrace_names *names);
void ftrace_text_free(struct ftrace_text *t);

/* A type's events by their fields, or by their print format. */
void ftrace_text_raw(struct ftrace_text *t, size_t type);
void ftrace_text_plain(struct ftrace_text *t, size_t type);

/* "PID NAME" lines of saved_cmdlines; what is known already stays. */
void ftrace_text_comms(struct ftrace_text *t, const char *text, size_t n);
void ftrace_text_comm(struct ftrace_text *t, int32_t pid, const char *name, size_t n);
/* "<...>" when not known. */
const char *ftrace_text_comm_of(struct ftrace_text *t, int32_t pid);

/* A time as lines have it: seconds, or raw as a stamp is. */
void ftrace_text_time(uint64_t time, bool raw, bool nsec, struct out *out);

/*
 * One event, without the newline at the end. missed: events that were lost before it, -1: nobody
 * knows how many. A function that ends at once is one line: end is the event that says so.
 */
void ftrace_text_line(struct ftrace_text *t, const struct event *ev, int64_t missed,
		      const struct event *end, struct out *out);

/* Does its line depend on what comes next: is it the begin of a function? */
bool ftrace_text_waits(const struct ftrace_text *t, const struct event *ev);
/* Is this the end of such a call? */
bool ftrace_text_ends(const struct ftrace_text *t, const struct event *entry,
		      const struct event *ev);

/*
 * Events on their way to lines, in order. Those of which the line depends on the next event of the
 * same part wait for it, and others behind them.
 */
struct ftrace_waiting;
struct ftrace_line {
	struct ftrace_text *text;
	const struct event *ev, *end;
	int64_t missed;
};
typedef int ftrace_line_fn(void *ctx, const struct ftrace_line *l);
struct ftrace_queue {
	ftrace_line_fn *fn; /* non-zero ends it */
	void *ctx;
	VEC(struct ftrace_waiting) list;
	size_t first, n_waiting;
	int64_t missed; /* EVENT_LOST that the next event tells */
};
/* shown: false only has it end the wait of the one before. */
int ftrace_queue_add(struct ftrace_queue *q, struct ftrace_text *t, const struct event *ev,
		     bool shown);
/* What waits is shown as it is. */
int ftrace_queue_flush(struct ftrace_queue *q);
void ftrace_queue_free(struct ftrace_queue *q);
