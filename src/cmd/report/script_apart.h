/* SPDX-License-Identifier: MIT */
/* script --per-event-dump: the events of each name in a file of their own, FILE.EVENT.dump. */
#ifndef KYMO_CMD_REPORT_SCRIPT_APART_H
#define KYMO_CMD_REPORT_SCRIPT_APART_H

#include "base/out.h"
#include "event/trace.h"

struct script_part {
	struct out out;
	char *path;
	uint64_t n; /* samples in it */
};

struct script_apart {
	struct script_part *part; /* by type */
	size_t n;
};

/* Makes a file for each event of the recording at path. */
int script_apart_open(struct script_apart *a, const struct trace *t, const char *path,
		      struct err *e);
/* Where the event goes; what is no sample goes to the first. */
struct out *script_apart_of(struct script_apart *a, const struct event *ev);
/* Writes what is left and, with e, tells on stdout what was written; NULL after a failure. */
int script_apart_close(struct script_apart *a, struct err *e);

#endif
