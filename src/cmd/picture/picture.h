/* SPDX-License-Identifier: MIT */
/* What flame, collapse and heat share: where stacks come from, and where pictures go. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/output.h"
#include "base/temp.h"
#include "calc/stacks/recorded.h"
#include "cmd/record/record.h"

/* What the args of a command begin with, so that the functions below find it. */
#define PICTURE_HEAD                                                           \
	struct record_args record; /* when it is to record first */            \
	bool recording;		   /* an option of it was given */             \
	bool chains_said;	   /* and how callers are found, among them */ \
	uint64_t max_size
struct picture_head {
	PICTURE_HEAD;
};

/* Who is recorded, and how large a page may be: lines of an option table. */
#define PICTURE_RECORD(c, l, m, h, comp) \
	OPT_FN_C(c, l, m, OPT_ARG_REQUIRED, picture_on_record, h, comp)
#define PICTURE_RECORD_WHOM                                                                 \
	OPT_FN0('a', "all-cpus", picture_on_record, "the whole machine"),                   \
		PICTURE_RECORD('p', "pid", "PID,...", "these processes, by number or name", \
			       "@pids"),                                                    \
		PICTURE_RECORD('t', "tid", "TID,...", "these threads", "@pids"),            \
		PICTURE_RECORD('C', "cpu", "LIST", "these CPUs", "@cpus"),                  \
		PICTURE_RECORD('u', "uid", "USER", "a user's processes", "@users")
#define PICTURE_MAX_SIZE(h) \
	OPT_FN_UNDO(0, "max-size", "SIZE", picture_on_max_size, h " (default: 5M)", NULL)
#define PICTURE_SIZE 5000000
int picture_on_max_size(const struct opt *o, const char *value, bool unset, void *args,
			struct err *e);

/*
 * Arguments as at most `most` files (the first *n are there already) and a command behind
 * "--", or NULL. Files and something to record (`recording`, or a command) exclude each
 * other. usage is how it is called.
 */
struct picture_given {
	const char *file[2];
	int n;
	char **command;
};
int picture_arguments(struct picture_given *g, int most, int argc, char **argv, bool recording,
		      const char *usage, struct err *e);

/* One of record's options, which has the same long name here. */
int picture_on_record(const struct opt *o, const char *value, bool unset, void *args,
		      struct err *e);
void picture_drop(void *args);
/* Where the picture goes to standard output ("-"), what a command prints goes to the other one. */
struct picture_aside {
	int fd;
};
struct picture_aside picture_aside_begin(const char *output);
void picture_aside_end(struct picture_aside aside);
/* A recording for one picture, gone with picture_recorded_free(). */
struct picture_recorded {
	char *path; /* NULL: none */
	struct temp folder;
};
/* Record what a says, or command (may be NULL), for a picture that goes to output. */
int picture_record(struct record_args *a, bool chains, char **command, const char *output,
		   struct picture_recorded *ret, struct err *e);
void picture_recorded_free(struct picture_recorded *r);

/* How a recording is read; folded text is what it is. */
struct picture_opts {
	struct recorded_opts stacks; /* min_share not for comparisons */
	bool off_cpu;		     /* where threads waited, from --off-cpu or sched_switch */
	bool wall;		     /* waits beside the samples */
	struct vec_strs inputs;	     /* several that are read as one; the first is the path */
};

/*
 * Read path ("-" is standard input) in whatever format it has; after, when not
 * NULL, is what to compare it with. recorded_free() also after a failure.
 */
int picture_read(const char *path, const char *after, const struct picture_opts *o,
		 struct recorded *in, struct err *e);

/* Tell whom the picture is for what its stacks lack, and what would help. */
void picture_say_gaps(const struct trace *t, const struct names *n);

/* How many events there can be stacks of: a dummy only brings news of processes. */
unsigned picture_events(const struct stacks *s);

/* The event NAME among the stacks' types: whole, or without its modifiers. */
int picture_event(const struct stacks *s, const char *name, uint32_t *ret, struct err *e);

/*
 * An output that appears under its name only when it is complete; "-" and NULL
 * are standard output. picture_close() with ok false leaves nothing behind.
 */
struct picture_output {
	const char *path;
	struct output file;
	FILE *f;
};
/* Before a long recording: could it be written? */
int picture_can_write(const char *path, struct err *e);
int picture_open(struct picture_output *o, const char *path, struct err *e);
int picture_close(struct picture_output *o, bool ok, struct err *e);
/* Hand a finished file to the desktop; the browser outlives us. */
int picture_show(const char *path, struct err *e);
