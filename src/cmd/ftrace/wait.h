/* SPDX-License-Identifier: MIT */
/* Waiting while something is traced: for a command, a time, or Ctrl-C. */
#ifndef KYMO_CMD_FTRACE_WAIT_H
#define KYMO_CMD_FTRACE_WAIT_H

#include "base/err.h"
#include "base/patience.h"
#include "cmd/share/watching.h"
#include "live/loop.h"
#include "live/workload.h"

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

#endif
