/* SPDX-License-Identifier: MIT */
/*
 * Counts as text for people, CSV and JSON; layout and field order are perf's, so
 * that eyes and scripts that know perf stat's output can read it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "calc/stat/stat.h"

struct stat_style {
	enum { STAT_TEXT, STAT_CSV, STAT_JSON } form;
	const char *sep; /* CSV's */
	bool big_num;	 /* thousands separators */
	bool metric_only;
	bool each_run;	     /* a table of the single runs' times */
	bool no_csv_summary; /* no word "summary" in front of CSV summaries */
	enum stat_by by;
};

/* What the whole is about, for the heading and the end. */
struct stat_subject {
	const char *what;     /* "'true'", "process id '12'", "'system wide'" */
	double user_s, sys_s; /* of the command; negative: not shown */
	bool null_run;
};

/* The lines of one table; stamp_ns >= 0 puts the time in front (interval mode). */
void stat_print_rows(FILE *f, const struct stat_style *s, const struct stat_table *t,
		     double stamp_ns);
/* The same marked as a summary after intervals. */
void stat_print_summary_rows(FILE *f, const struct stat_style *s, const struct stat_table *t);
/* "#  time  counts unit events", before the first interval and now and then. */
void stat_print_interval_head(FILE *f, const struct stat_style *s, const struct stat_table *t);

void stat_print_head(FILE *f, const struct stat_style *s, const struct stat_subject *about,
		     unsigned runs);
void stat_print_end(FILE *f, const struct stat_style *s, const struct stat_subject *about,
		    const struct stat_table *t);
