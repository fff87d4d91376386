/* SPDX-License-Identifier: MIT */
/* Captured pages and what is known of them into a trace.dat. */
#ifndef KYMO_CMD_FTRACE_SAVE_H
#define KYMO_CMD_FTRACE_SAVE_H

#include "cmd/ftrace/opts.h"
#include "live/ftrace/capture.h"
#include "live/ftrace/maps.h"

/*
 * c may be NULL: nothing but texts; maps too: not asked for. Says how much was written, and what
 * was lost.
 */
int ftrace_save(struct ftrace *f, struct ftrace_capture *c, struct ftrace_maps *maps,
		const struct ftrace_args *a, struct err *e);
/* What --file-version and --compression come to. */
int ftrace_save_format(const struct ftrace_args *a, int *version, const char **compression,
		       struct err *e);

#endif
