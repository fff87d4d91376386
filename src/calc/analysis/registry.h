/* SPDX-License-Identifier: MIT */
#ifndef KYMO_CALC_ANALYSIS_REGISTRY_H
#define KYMO_CALC_ANALYSIS_REGISTRY_H

#include "calc/analysis/analysis.h"

extern const struct analysis analysis_hist;
extern const struct analysis analysis_kmem_tasks;
extern const struct analysis analysis_profile;

#endif
