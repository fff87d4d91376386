/* SPDX-License-Identifier: MIT */
/* What stat's files share: the options (stat.c) and the measuring (stat_run.c). */
#ifndef KYMO_CMD_STAT_H
#define KYMO_CMD_STAT_H

#include <stdint.h>

#include "calc/stat.h"
#include "cmd/command.h"
#include "event/spec.h"
#include "live/target.h"
#include "view/stat.h"

struct stat_args {
	struct spec_list events;
	struct target_opts target;
	const char *cgroups, *each_cgroup;
	const char *output, *sep, *control, *pre, *post, *filter_for_last;
	bool append, json, no_inherit, big_num, null_run, metric_only, summary, interval_clear;
	bool table, sync, quiet, no_scale, all_user, all_kernel, no_csv_summary, no_aggr, forever,
		no_merge;
	bool default_events; /* the user named none */
	bool group;	     /* -g: all in one group */
	bool per_thread, per_core, per_die, per_socket, per_node;
	int detailed, repeat, interval_ms, interval_count, timeout_ms, log_fd, verbose;
	int delay_ms;	       /* -1: start switched off */
	const char *record_to; /* stat record: the file; NULL otherwise */
};

/* Everything that was decided before measuring. */
struct stat_plan {
	struct stat_args *args;
	struct target target;
	const char *const *cgroups; /* by event, or NULL */
	enum stat_by by;
	struct stat_style style;
	char **argv;	  /* the command, or NULL */
	const char *what; /* "'true'" */
	FILE *out;
};

/* Measures, prints, and returns the exit code (the command's own). */
int stat_run(struct stat_plan *p, struct err *e);

#endif
