/* SPDX-License-Identifier: MIT */
#pragma once

#include "calc/read/merge.h"

/* What is to be added to the times of each, for those of the first one's clock. */
int merge_clocks(const struct merge_input *in, size_t n, int64_t *shift, struct err *e);
