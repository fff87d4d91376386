/* SPDX-License-Identifier: MIT */
#ifndef KYMO_CALC_READ_MERGE_CLOCK_H
#define KYMO_CALC_READ_MERGE_CLOCK_H

#include "calc/read/merge.h"

/* What is to be added to the times of each, for those of the first one's clock. */
int merge_clocks(const struct merge_input *in, size_t n, int64_t *shift, struct err *e);

#endif
