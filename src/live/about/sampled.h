/* SPDX-License-Identifier: MIT */
/*
 * Which files and kernel addresses a recording's samples fell into: what a reader elsewhere needs.
 */
#pragma once

#include <stdbool.h>

#include "base/vec.h"
#include "event/trace.h"

struct sampled {
	uint8_t *dso; /* by number: was hit; tasks_n_dsos() of them */
	/* the kernel's addresses, each once; of those that calls return to the one before, too */
	VEC(uint64_t) kernel;
};

int sampled_find(struct source *s, struct sampled *ret, struct err *e);
void sampled_free(struct sampled *h);
