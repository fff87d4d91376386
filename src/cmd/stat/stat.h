/* SPDX-License-Identifier: MIT */
/*
 * What stat's files share: the options (stat.c), the measuring (cmd/stat/run.c), the
 * file that record writes (cmd/stat/record.c), the reading of it (cmd/stat/report.c) and
 * where all of them print (cmd/stat/out.c).
 */
#pragma once

#include <stdint.h>

#include "calc/stat/stat.h"
#include "cmd/command.h"
#include "event/spec/spec.h"
#include "live/target.h"
#include "view/stat/stat.h"

struct stat_args {
	struct spec_list events;
	struct target_opts target;
	const char *cgroups, *each_cgroup;
	struct stat_style style; /* but for form and by */
	const char *output, *control, *pre, *post;
	bool append, json, no_inherit, null_run, summary, interval_clear;
	bool sync, quiet, no_scale, all_user, all_kernel, no_aggr, forever, no_merge, all_rows;
	bool default_events; /* the user named none */
	bool group;	     /* -g: all in one group */
	bool per_thread, per_core, per_die, per_socket, per_node;
	int detailed, repeat, interval_ms, interval_count, timeout_ms, log_fd, verbose;
	int delay_ms;	   /* -1: start switched off */
	bool record;	   /* stat record: counts go to output, or perf.data */
	const char *input; /* stat report */
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

opt_fn stat_on_sep;

extern const struct command cmd_stat_report;

/* --- cmd/stat/run.c --- */
/* Measures, prints, and returns the exit code (the command's own). */
int stat_run(struct stat_plan *p, struct err *e);

/* --- cmd/stat/record.c --- */
struct stat_file;
typedef const char *stat_name_fn(void *ctx, pid_t tid);

int stat_file_open(const struct stat_plan *p, const struct count_set *set, stat_name_fn *name,
		   void *ctx, struct stat_file **ret, struct err *e);
/* What the set that it was opened with holds now: everything since the start. */
int stat_file_round(struct stat_file *f, uint64_t time_ns, bool final, struct err *e);
int stat_file_usage(struct stat_file *f, double user_s, double sys_s, struct err *e);
/* failed: leave what is there readable. */
int stat_file_close(struct stat_file *f, bool failed, struct err *e); /* NULL is fine */

/* --- cmd/stat/out.c --- */
enum stat_by stat_by(const struct stat_args *a);
/* How many ways to sum were asked for. */
int stat_n_sums(const struct stat_args *a);
#define STAT_ONE_SUM                                                                            \
	"only one of -A, --per-thread, --per-core, --per-die, --per-socket, --per-node can be " \
	"used"
struct stat_style stat_style(const struct stat_args *a, enum stat_by by);
/* path NULL: --log-fd or stderr. */
int stat_out_open(const struct stat_args *a, const char *path, FILE **ret, struct err *e);
int stat_out_flush(FILE *f, const char *path, struct err *e);
int stat_out_close(FILE *f, const char *path, struct err *e);
/* One interval's lines; *lines counts those since the last heading. */
void stat_out_interval(FILE *f, const struct stat_style *s, bool clear, const struct stat_table *t,
		       double stamp_ns, unsigned *lines);
