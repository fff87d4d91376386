/* SPDX-License-Identifier: MIT */
/*
 * Options of perf's that scripts give and that choose nothing here: taken and
 * forgotten. And those about what kymo does not do: refused with the reason.
 */
#ifndef KYMO_CMD_SHARE_ACCEPT_H
#define KYMO_CMD_SHARE_ACCEPT_H

#include "base/opt.h"

opt_fn accept_nothing, accept_no_trace, accept_no_guest, accept_no_cycles, accept_no_script,
	accept_no_dump;
/* --stdio-color: always, never or auto. */
opt_fn accept_color;

#define ACCEPTED_(c, l, a, f)                                                           \
	{                                                                               \
		.kind = OPT_KIND_FN, .letter = (c), .name = (l), .arg = (a), .fn = (f), \
		.flags = OPT_HIDDEN | OPT_UNDO, .help = ""                              \
	}
#define OPT_ACCEPTED(c, l) ACCEPTED_(c, l, OPT_ARG_NONE, accept_nothing)
#define OPT_ACCEPTED_ARG(c, l) ACCEPTED_(c, l, OPT_ARG_REQUIRED, accept_nothing)
#define OPT_ACCEPTED_OPTIONAL(l) ACCEPTED_(0, l, OPT_ARG_OPTIONAL, accept_nothing)
/* Hardware traces (Intel PT, CoreSight). */
#define OPT_OF_TRACES(l) ACCEPTED_(0, l, OPT_ARG_OPTIONAL, accept_no_trace)
#define OPT_OF_TRACES_ARG(l) ACCEPTED_(0, l, OPT_ARG_REQUIRED, accept_no_trace)
/* perf's scripts in Perl and Python, and its filters in C. */
#define OPT_OF_SCRIPTS(c, l, a) ACCEPTED_(c, l, a, accept_no_script)
/* -D where a recording is not shown record by record. */
#define OPT_OF_DUMPS() ACCEPTED_('D', "dump-raw-trace", OPT_ARG_NONE, accept_no_dump)
/* Guests whose host was recorded. */
#define OPT_OF_GUESTS(l, a) ACCEPTED_(0, l, a, accept_no_guest)
/* Cycles between the branches that the CPU recorded. */
#define OPT_OF_CYCLES(l) ACCEPTED_(0, l, OPT_ARG_NONE, accept_no_cycles)

#endif
