/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel's trace buffer as lines of text, the way trace-cmd report
 * words them: its columns, and its own layout for functions, stacks, switches and
 * some other events in place of their print formats.
 */
#ifndef KYMO_VIEW_FTRACE_TEXT_H
#define KYMO_VIEW_FTRACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/out.h"
#include "event/type.h"
#include "store/tracedat/ringbuf.h"
#include "view/ftrace/names.h"

struct tasks;

struct ftrace_text_opts {
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

/* Where all records have these. */
struct ftrace_heads {
	uint32_t type_at, pid_at, flags_at, preempt_at, long_size;
	bool swap;
};

struct ftrace_record {
	struct ringbuf_record r;
	uint64_t time; /* as it is shown */
	uint32_t cpu;
	const struct event_type *type; /* NULL: not known */
	int32_t pid;
};

struct ftrace_text;
/* names may be NULL; both are kept, not owned. tep: of event/text.h. */
struct ftrace_text *ftrace_text_new(const struct ftrace_text_opts *o, const struct ftrace_heads *h,
				    void *tep, struct ftrace_names *names);
void ftrace_text_free(struct ftrace_text *t);

/* All types before the first line; the pointer is how records name them. */
void ftrace_text_type(struct ftrace_text *t, const struct event_type *type);
/* These events by their fields, or by their print format. */
void ftrace_text_raw(struct ftrace_text *t, const struct event_type *type);
void ftrace_text_plain(struct ftrace_text *t, const struct event_type *type);

/* "PID NAME" lines of saved_cmdlines; what is known already stays. */
void ftrace_text_comms(struct ftrace_text *t, const char *text, size_t n);
void ftrace_text_comm(struct ftrace_text *t, int32_t pid, const char *name, size_t n);
/* "<...>" when not known. */
const char *ftrace_text_comm_of(struct ftrace_text *t, int32_t pid);

/* A time as lines have it: seconds, or raw as a stamp is. */
void ftrace_text_time(uint64_t time, bool raw, bool nsec, struct out *out);

/*
 * One record, without the newline at the end. peek gives the record that comes
 * next, false when there is none, and take makes it be passed over: a function that
 * ends at once is one line.
 */
struct ftrace_next {
	bool (*peek)(void *ctx, struct ftrace_record *ret);
	void (*take)(void *ctx);
	void *ctx;
};
void ftrace_text_line(struct ftrace_text *t, const struct ftrace_record *rec,
		      const struct ftrace_next *next, struct out *out);

#endif
