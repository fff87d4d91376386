/* SPDX-License-Identifier: MIT */
/*
 * Counts into the rows that people read: summed by CPU, core, thread ...,
 * scaled for multiplexing, averaged over runs, with derived figures.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "event/count.h"

struct stat_opts {
	enum stat_by by;
	bool no_scale;	/* show multiplexed counts as they are */
	bool no_merge;	/* show like PMUs (uncore_imc_0, _1 ...) one by one */
	bool hide_idle; /* of threads those that counted nothing: a machine has hundreds */
	double wall_ns; /* what the counts cover */
	/* For STAT_THREAD: a thread's name, "" when it is not known. May be NULL. */
	const char *(*thread_name)(void *ctx, pid_t tid);
	void *thread_ctx;
};

enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

enum stat_metric_style {
	STAT_METRIC_NONE,
	STAT_METRIC_FIXED,   /* 8.3f: "0.472 CPUs utilized" */
	STAT_METRIC_RATIO,   /* 7.2f: "0.85  insn per cycle" */
	STAT_METRIC_PERCENT, /* 7.2f%: "1.23% of all branches" */
};

struct stat_metric {
	enum stat_metric_style style;
	double value;
	const char *unit; /* "CPUs utilized", "K/sec" */
};

struct stat_row {
	const struct count_event *event;
	char key[48]; /* "CPU0", "S0-D0-C1", "bash-77"; "" for STAT_GLOBAL */
	pid_t tid;
	unsigned places; /* how many were summed */
	enum stat_state state;
	double value; /* scaled for multiplexing, not yet by the event's scale */
	double enabled, running;
	double noise; /* standard error of the mean in % of it; only with runs > 1 */
	struct stat_metric metric, metric2; /* metric2: a second line (stalled cycles per insn) */
};

struct stat_table {
	struct stat_row *row;
	size_t n;
	unsigned runs;
	double wall_ns, wall_noise_ns; /* mean, and standard error of the mean */
	double *run_wall_ns;	       /* each run's */
};

/* One run or interval. Free with stat_table_free. Rows of an event stand together in CPU mode, of a
 * key in the others. */
void stat_summarise(const struct count_set *set, const struct stat_opts *o, struct stat_table *ret);

/*
 * The mean of several runs with the same events and places; runs[] are tables of
 * stat_summarise, n > 0; of all but the last the events may be gone.
 */
void stat_average(const struct stat_table *runs, size_t n, struct stat_table *ret);

/*
 * For eyes: of each pattern's events those that happened most first, and not those that
 * never did. How many were left out.
 */
size_t stat_busiest(struct stat_table *t);

/* Nanosecond clocks, which perf shows in msec. */
bool stat_is_clock(const struct count_event *e);

void stat_table_free(struct stat_table *t);

/* --- calc/stat/metric.c --- */
/*
 * A figure relates two rows of one key, one cgroup and the same user/kernel modifiers; the row's
 * value is divided by the other's, so multiplexed counters are compared after scaling.
 */
void metric_fill(struct stat_table *t);
