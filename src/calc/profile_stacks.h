/* SPDX-License-Identifier: MIT */
/* A named profile as weighted stacks, for pictures and exports. */
#ifndef KYMO_CALC_PROFILE_STACKS_H
#define KYMO_CALC_PROFILE_STACKS_H

#include "calc/names.h"
#include "calc/stacks.h"

/*
 * Fill *ret (empty before) from n. Weights are samples, or what the samples
 * count where the event says its unit (ns off CPU). Entries are as fine as the
 * profile was asked to be.
 */
void profile_stacks(const struct names *n, struct stacks *ret);

#endif
