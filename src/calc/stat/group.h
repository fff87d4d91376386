/* SPDX-License-Identifier: MIT */
/* Under which heading a count falls: its CPU, core, socket, node or thread. */
#ifndef KYMO_CALC_STAT_GROUP_H
#define KYMO_CALC_STAT_GROUP_H

#include "calc/stat/stat.h"

void stat_group_key(const struct stat_opts *o, const struct count_set *set,
		    const struct count_place *p, char *key, size_t size);

#endif
