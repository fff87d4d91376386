/* SPDX-License-Identifier: MIT */
/* A pprof profile's samples as stacks. */
#ifndef KYMO_CALC_READ_PPROF_STACKS_H
#define KYMO_CALC_READ_PPROF_STACKS_H

#include "calc/stacks/stacks.h"
#include "store/text/pprof.h"

/*
 * Adds p's samples to s (empty before), once for each thing they count, which
 * become s's types. *first is the type to show: the profile's default, or its
 * last one, as pprof itself chooses.
 */
int pprof_stacks(const struct pprof *p, struct stacks *s, uint32_t *first, struct err *e);

#endif
