/* SPDX-License-Identifier: MIT */
/* What verbs that trace into a file share: capture while a command runs, save, put back. */
#ifndef KYMO_CMD_FTRACE_RUN_H
#define KYMO_CMD_FTRACE_RUN_H

#include "cmd/ftrace/opts.h"
#include "cmd/ftrace/wait.h"
#include "event/trace.h"

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

#endif
