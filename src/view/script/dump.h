/* SPDX-License-Identifier: MIT */
/*
 * Every record with its bytes and its fields, as perf's -D shows it; samples are
 * followed by the line script would print for them.
 *
 * The order is perf's: its own records when they are read, the kernel's by time
 * once a round of reading says that nothing earlier can come. Or all as they are read.
 */
#ifndef KYMO_VIEW_SCRIPT_DUMP_H
#define KYMO_VIEW_SCRIPT_DUMP_H

#include "view/script/script.h"

/* wants(ctx, ev): which samples are printed as well; may be NULL. */
int script_dump(struct script *s, struct source *src, const char *file,
		bool (*wants)(void *ctx, const struct event *ev), void *ctx, struct err *e);

#endif
