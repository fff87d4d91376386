/* SPDX-License-Identifier: MIT */
/* What the files of `kymo probe` share. */
#ifndef KYMO_CMD_PROBE_H
#define KYMO_CMD_PROBE_H

#include "base/vec.h"
#include "live/probe_define.h"

struct probe_opts {
	struct probe_target_opts target;
	const char *filter; /* of names that -V and -F show; NULL: all */
	bool dry_run, force, quiet, externs, range, bootconfig, demangle;
	int verbose, max_probes;
};

/* probe_show.c: what there is to see. They print to stdout. */
int probe_show_lines(const struct probe_opts *o, const char *text, struct err *e);
int probe_show_vars(const struct probe_opts *o, const char *text, struct err *e);
int probe_show_functions(const struct probe_opts *o, const char *filter, struct err *e);
int probe_show_list(const struct probe_opts *o, const char *filter, struct err *e);

/* "a|b", "!x", "a&!b" of shell patterns; NULL fits all. */
bool probe_filter(const char *filter, const char *name);

#endif
