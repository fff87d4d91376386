/* SPDX-License-Identifier: MIT */
/*
 * The kernel's dynamic events (kprobe_events, uprobe_events) in root, a tracefs directory. A
 * definition is a line in the kernel's own words ("p:probe/open do_sys_open name=+0(%si):string");
 * what is wrong with it comes from error_log, with a caret.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/vec.h"
#include "kern/undo.h"

struct probe_event {
	char *line; /* as the kernel shows it */
	char *group, *event;
	const char *where; /* in line: "do_sys_open+0", "/bin/ls:0x1234" ... and the arguments */
	bool user, ret;
};
struct probe_events {
	VEC(struct probe_event) list;
};

/* All there are, the kernel's first. A kernel without one of the files has none of those. */
int probe_events_read(const char *root, struct probe_events *ret, struct err *e);
void probe_events_free(struct probe_events *p);
bool probe_events_has(const struct probe_events *p, const char *group, const char *event);

int probe_events_add(const char *root, bool user, const char *definition, struct err *e);
/* -EBUSY when somebody uses it. */
int probe_events_remove(const char *root, bool user, const char *group, const char *event,
			struct err *e);

/*
 * Dynamic probes by raw definitions ("p:GROUP/NAME do_sys_open filename=+0(%si):string"), which are
 * removed again through the journal of kern/undo.h.
 */

struct raw_probe {
	char *group, *name;
	char *definition; /* whole, with group and name */
};

/*
 * Splits and completes "p func", "r:name func $retval", "p:group/name ...": a missing group is
 * group, a missing name is made of the function.
 */
int raw_probe_parse(const char *text, const char *group, struct raw_probe *ret, struct err *e);
void raw_probe_free(struct raw_probe *p);

/* Make the probe. What the kernel has against it comes with a caret from its error_log. */
int raw_probe_add(const char *tracefs, bool user, const struct raw_probe *p, struct undo *u,
		  struct err *e);
