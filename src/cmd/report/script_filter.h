/* SPDX-License-Identifier: MIT */
/*
 * Which events `script` shows: what pick.h takes, and functions and files, which script knows by
 * its own names: -S also takes addresses.
 */
#ifndef KYMO_CMD_REPORT_SCRIPT_FILTER_H
#define KYMO_CMD_REPORT_SCRIPT_FILTER_H

#include "base/vec.h"
#include "calc/read/pick.h"
#include "view/script/script.h"

struct script_filter {
	struct pick pick;
	VEC(uint64_t) addrs; /* among the symbols */
	uint64_t addr_range;
};

/* addr_range: -S with addresses takes so many bytes from there; 0: that one. */
int script_filter_init(struct script_filter *f, const struct pick_opts *o, uint64_t addr_range,
		       const struct trace *t, struct err *e);
bool script_filter_wants(struct script_filter *f, struct script *s, const struct event *ev);
void script_filter_free(struct script_filter *f);

#endif
