/* SPDX-License-Identifier: MIT */
/* What the three forms of counts share. */
#ifndef KYMO_VIEW_STAT_ROW_H
#define KYMO_VIEW_STAT_ROW_H

#include "view/stat/stat.h"

/* The value in its unit: clocks in msec, PMU events by their scale. */
double stat_row_value(const struct stat_row *r);
const char *stat_row_unit(const struct stat_row *r); /* "" when none */
/* Whether the value has decimals to show. */
bool stat_row_is_fraction(const struct stat_row *r);
/* Percent of the time that the counter was really counting. */
double stat_row_running(const struct stat_row *r);

void stat_csv_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
		  const struct stat_row *r, const char *stamp);
void stat_json_row(FILE *f, const struct stat_style *s, const struct stat_table *t,
		   const struct stat_row *r, double stamp_ns);

#endif
