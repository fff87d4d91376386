/* SPDX-License-Identifier: MIT */
/*
 * Parts of a recording by time, as --time gives them:
 *
 *	12.5,13		seconds of the trace's clock; either may be left out
 *	1,2 4,5		several, in order, separated by blanks
 *	10%		the first tenth
 *	10%/2,10%/5	the second and the fifth tenth
 *	0%-10%,30%-40%
 */
#pragma once

#include "base/vec.h"
#include "event/trace.h"

struct span {
	uint64_t start, end; /* ns, inclusive; 0: open */
};
struct spans {
	struct span *data;
	size_t n, cap;
};

/* Shares are of the time between the trace's first and last sample. -EINVAL leaves s empty. */
int spans_parse(struct spans *s, const char *text, const struct trace *t, struct err *e);
void spans_free(struct spans *s);
/* Times of 0 are none, and belong everywhere; so does everything where there are no spans. */
bool spans_hold(const struct spans *s, uint64_t time);
