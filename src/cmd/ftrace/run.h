/* SPDX-License-Identifier: MIT */
/* What verbs that trace into a file share: capture while a command runs, save, put back. */
#pragma once

#include "cmd/ftrace/opts.h"
#include "base/err.h"
#include "base/patience.h"
#include "cmd/share/watching.h"
#include "live/loop.h"
#include "live/workload.h"
#include "event/trace.h"
#include "live/ftrace/capture.h"
#include "live/ftrace/maps.h"

/* --- waiting while something is traced: for a command, a time, or Ctrl-C --- */

struct ftrace_wait {
	struct loop loop;
	struct patience patience; /* with who reads what is printed meanwhile */
	struct workload child;
	const char *user; /* who runs the command; NULL: we do */
	bool open;
	int exit_code;	   /* of the command */
	uint64_t limit_ns; /* 0: none */
	uint64_t tick_ns;  /* how often tick is called; 0: never */
	/* non-zero ends the waiting */
	int (*tick)(void *ctx);
	void (*begun)(void *ctx); /* tracing is on, the command about to start; NULL: nobody */
	void *ctx;
	const struct watching_opts *watching; /* say what is recorded; NULL: somebody else does */
	const struct ftrace_capture *capture; /* where it goes; NULL: how much is not known */
};

/* Before threads are made: blocks signals. argv NULL or empty: no command. */
int ftrace_wait_open(struct ftrace_wait *w, char **argv, struct err *e);
/* Start the command and wait. After a signal patience has a limit. */
int ftrace_wait_run(struct ftrace_wait *w, const char *name, struct err *e);
/* Must what prints stop: for a signal, or because what was left at the end took too long? */
bool ftrace_wait_over(const struct ftrace_wait *w);
void ftrace_wait_close(struct ftrace_wait *w);

/* --- tracing into a file --- */

/*
 * Check the options, and make what is to be run of the command line: *command is NULL without one,
 * else to be freed (its words are argv's).
 */
int ftrace_run_prepare(struct ftrace_args *a, int argc, char **argv, char ***command,
		       struct err *e);
/*
 * f is open. Trace while the command of w runs, or until Ctrl-C, and write a->output. With -F only
 * the command is traced; kymo's own threads never, unless a->no_filter.
 */
int ftrace_run_capture(struct ftrace_args *a, struct ftrace *f, struct ftrace_wait *w, char **argv,
		       struct err *e);
/* The same into a file that is gone as soon as it was opened. On failure *ret is untouched. */
int ftrace_run_read(struct ftrace_args *a, struct ftrace *f, struct ftrace_wait *w, char **argv,
		    struct source **ret, struct err *e);
/* Everything back as it was; says so when something could not be. */
void ftrace_run_close(struct ftrace *f);

/*
 * c may be NULL: nothing but texts; maps too: not asked for. Says how much was written, and what
 * was lost.
 */
int ftrace_save(struct ftrace *f, struct ftrace_capture *c, struct ftrace_maps *maps,
		const struct ftrace_args *a, struct err *e);
/* What --file-version and --compression come to. */
int ftrace_save_format(const struct ftrace_args *a, int *version, const char **compression,
		       struct err *e);
