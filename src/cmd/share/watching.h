/* SPDX-License-Identifier: MIT */
/*
 * A recording that nothing is seen of says on the terminal what it records, for how long and how
 * much there is, and how it ends: a line that is written over twice a second, and gone at the end.
 *
 * A command that is recorded has the terminal for itself: nothing is said while its output goes
 * there. Where a command only says how long (-a -- sleep 10), or writes elsewhere, one line is said
 * at the start and stays. Nothing with -q, or where stderr is no terminal.
 */
#pragma once

#include "cmd/share/progress.h"
#include "live/target.h"

#define WATCHING_MS 500 /* between two looks */

struct watching {
	struct progress line;
	char what[128];
	uint64_t start, limit_ns;
	bool running; /* the line is kept up to date */
};

struct watching_opts {
	const char *what;    /* "cycles", "events" */
	const char *whom;    /* "the whole machine" */
	const char *command; /* that runs meanwhile; NULL: none */
	bool of_command;     /* it is what is recorded */
	bool quiet;
	uint64_t limit_ns; /* 0: until Ctrl-C */
};
void watching_begin(struct watching *w, const struct watching_opts *o);
/* How much there is; events 0: they are not counted. */
void watching_at(struct watching *w, uint64_t events, uint64_t bytes);
void watching_end(struct watching *w);

/* "the whole machine", "process 12,nginx" into buf, which is returned. */
const char *watching_whom(const struct target_opts *t, char *buf, size_t size);
