/* SPDX-License-Identifier: MIT */
/*
 * Derived figures: instructions per cycle, shares of misses, rates, GHz.
 *
 * A figure relates two rows of one key, one cgroup and the same user/kernel
 * modifiers; the row's value is divided by the other's, so multiplexed counters
 * are compared after scaling.
 */
#ifndef KYMO_CALC_STAT_METRIC_H
#define KYMO_CALC_STAT_METRIC_H

#include "calc/stat/stat.h"

void metric_fill(struct stat_table *t);

#endif
