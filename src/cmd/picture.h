/* SPDX-License-Identifier: MIT */
/* What flame, collapse and heat share: where stacks come from, and where pictures go. */
#ifndef KYMO_CMD_PICTURE_H
#define KYMO_CMD_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"
#include "calc/calltree.h"
#include "calc/stacks.h"

/*
 * Options for `kymo record`, when it is to record first. It stands first in the
 * args of a command, so that picture_on_record() finds it.
 */
struct picture_words {
	char *word[64];
	int n;
};
int picture_on_record(const struct opt *o, const char *value, bool unset, void *args,
		      struct err *e);
int picture_words_add(struct picture_words *w, const char *option, const char *value,
		      struct err *e);
bool picture_words_have(const struct picture_words *w, const char *option);
void picture_words_drop(void *args);
/* Record what command (may be NULL) or the options say into a file of its own; *path is the
 * caller's to free and unlink. */
int picture_record(const struct picture_words *options, bool chains, char **command, char **path,
		   struct err *e);

/* A whole file ("-": standard input): mapped where it can be, read where it is a pipe. */
struct picture_file {
	const char *data; /* never NULL once open */
	size_t n;
	bool mapped;
};
int picture_file_open(const char *path, struct picture_file *f, struct err *e);
void picture_file_close(struct picture_file *f);

struct picture_input {
	struct stacks side[2]; /* [1] only when two */
	bool two;	       /* a comparison: two files, or one with two counts */
	bool folded;	       /* from folded text: names are as somebody wants them */
	uint32_t first_type; /* the event of the earliest sample: what is shown when none was named
			      */
	uint32_t off_type;   /* the event that is time off the CPU; UINT32_MAX: none */
	bool cut;	     /* min_share: stacks end where nothing more is seen */
	char note[160];	     /* what had to be changed while reading; "" when nothing */
};

/* How a recording is read; folded text is what it is. */
struct picture_opts {
	bool times; /* when samples were, in steps: pages filter by it, flame charts order by it */
	bool inlines; /* inlined functions as frames */
	bool counts;  /* samples, not what they stand for */
	bool off_cpu; /* where threads waited, from record --off-cpu or sched_switch */
	bool wakers;  /* with who ended the waits */
	bool marks;   /* waiting looks different from running */
	/*
	 * Above 0: only frames of at least this share will be seen, below a frame for each
	 * label, so that no more need be kept. Not for comparisons.
	 */
	double min_share;
	enum calltree_label label;
	bool collapse_recursion;
	const char *event; /* the only one that will be shown; NULL: the first */
};

/*
 * Read path ("-" is standard input) in whatever format it has; after, when not
 * NULL, is what to compare it with. picture_input_free() also after a failure.
 */
int picture_read(const char *path, const char *after, const struct picture_opts *o,
		 struct picture_input *in, struct err *e);
void picture_input_free(struct picture_input *in);

/* Is it a recording (perf.data of some form), not text? */
bool picture_is_recording(const char *path);

/* The event NAME among the stacks' types: whole, or without its modifiers. */
int picture_event(const struct stacks *s, const char *name, uint32_t *ret, struct err *e);

/*
 * An output that appears under its name only when it is complete; "-" and NULL
 * are standard output. picture_close() with ok false leaves nothing behind.
 */
struct picture_output {
	const char *path;
	char *temp; /* NULL: standard output */
	FILE *f;
};
int picture_open(struct picture_output *o, const char *path, struct err *e);
int picture_close(struct picture_output *o, bool ok, struct err *e);
/* Hand a finished file to the desktop; the browser outlives us. */
int picture_show(const char *path, struct err *e);

#endif
