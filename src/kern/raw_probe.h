/* SPDX-License-Identifier: MIT */
/*
 * Dynamic probes by their raw definitions, as kraw_probes and uraw_probes take
 * them: "p:GROUP/NAME do_sys_open filename=+0(%si):string". They are removed again
 * through the journal of kern/undo.h. (kern/probe_events.h lists and adds them for good.)
 */
#ifndef KYMO_KERN_RAW_PROBE_H
#define KYMO_KERN_RAW_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "kern/undo.h"

struct raw_probe {
	char *group, *name;
	char *definition; /* whole, with group and name */
};

/*
 * Split a definition into its parts and complete it: "p func", "r:name func $retval",
 * "p:group/name ..." all do; a group that is missing is group, a name that is
 * missing is made of the function.
 */
int raw_probe_parse(const char *text, const char *group, struct raw_probe *ret, struct err *e);
void raw_probe_free(struct raw_probe *p);

/* Make the probe. What the kernel has against it comes with a caret from its error_log. */
int raw_probe_add(const char *tracefs, bool user, const struct raw_probe *p, struct undo *u,
		  struct err *e);

#endif
