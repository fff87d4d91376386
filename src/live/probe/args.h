/* SPDX-License-Identifier: MIT */
/* The arguments of one probe at one place, as the kernel takes them. */
#ifndef KYMO_LIVE_PROBE_ARGS_H
#define KYMO_LIVE_PROBE_ARGS_H

#include "live/probe/define.h"

/* point NULL: no debug info there. symbol is the function's name, for BTF; at_entry: its start. */
int probe_args(const struct probe_target *t, const struct probe_text *p,
	       const struct dwarf_point *point, const char *symbol, bool at_entry, struct arena *a,
	       struct probe_defs *notes, struct strbuf *out, struct err *e);

#endif
