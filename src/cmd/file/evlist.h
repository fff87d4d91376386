/* SPDX-License-Identifier: MIT */
/* Events with how they were set up, as evlist and --control's evlist word them. */
#ifndef KYMO_CMD_FILE_EVLIST_H
#define KYMO_CMD_FILE_EVLIST_H

#include <linux/perf_event.h>

#include "base/str.h"

/* After the name comes a colon, between the parts a comma. */
struct evlist_line {
	struct strbuf *b;
	bool more;
};
void evlist_part(struct evlist_line *l);

enum evlist_how { EVLIST_NAMES, EVLIST_VERBOSE, EVLIST_FREQ };

/* Without the end of the line, for what may follow. */
struct evlist_line evlist_begin(struct strbuf *b, const char *name,
				const struct perf_event_attr *attr, enum evlist_how how);

#endif
