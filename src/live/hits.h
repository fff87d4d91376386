/* SPDX-License-Identifier: MIT */
/* Which files a recording's samples fell into: those are the ones worth an identity. */
#ifndef KYMO_LIVE_HITS_H
#define KYMO_LIVE_HITS_H

#include <stdbool.h>

#include "event/trace.h"

struct hits_result {
	bool kernel; /* some address was the kernel's */
};

/* all: every file that was mapped, hit or not. fn is called once a file. */
int hits_find(struct source *s, bool all,
	      void (*fn)(void *ctx, const struct task_dso *d, const char *path), void *ctx,
	      struct hits_result *ret, struct err *e);

#endif
