/* SPDX-License-Identifier: MIT */
/* Events with how they were set up, as evlist and --control's evlist word them. */
#pragma once

#include "base/str.h"
#include "event/type.h"

/* After the name comes a colon, between the parts a comma. */
struct evlist_line {
	struct strbuf *b;
	bool more;
};
setting_fn evlist_setting; /* ctx is the line */

/* The name, and how often there is a sample. Without the end of the line, for what may follow. */
struct evlist_line evlist_begin(struct strbuf *b, const struct event_type *t, bool rate);
