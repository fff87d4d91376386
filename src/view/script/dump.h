/* SPDX-License-Identifier: MIT */
/*
 * A source's own dump of its records; samples are followed by the line script would
 * print for them.
 */
#ifndef KYMO_VIEW_SCRIPT_DUMP_H
#define KYMO_VIEW_SCRIPT_DUMP_H

#include "view/script/script.h"

/* wants(ctx, ev): which samples are printed as well; may be NULL. -EOPNOTSUPP: the source has no
 * dump. */
int script_dump(struct script *s, struct source *src, const char *file,
		bool (*wants)(void *ctx, const struct event *ev), void *ctx, struct err *e);

#endif
