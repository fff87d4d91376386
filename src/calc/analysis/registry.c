/* SPDX-License-Identifier: MIT */
/* Every analysis there is, by name. */
#include "calc/analysis/analysis.h"

const struct analysis *const analyses[] = {
	&analysis_hist,
	&analysis_kmem_tasks,
	&analysis_profile,
	NULL,
};
