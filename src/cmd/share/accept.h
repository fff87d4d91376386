/* SPDX-License-Identifier: MIT */
/*
 * Options of perf's that scripts give and that choose nothing here: taken and
 * forgotten. And those about what kymo does not do: refused with the reason.
 */
#pragma once

#include "base/opt.h"

opt_fn accept_nothing, accept_refused;
/* --stdio-color: always, never or auto. */
opt_fn accept_color;

#define HIDDEN_(c, l, a, f, why, instead)                                               \
	{                                                                               \
		.kind = OPT_KIND_FN, .letter = (c), .name = (l), .arg = (a), .fn = (f), \
		.flags = OPT_HIDDEN | OPT_UNDO, .help = (why), .meta = (instead)        \
	}
#define ACCEPTED_(c, l, a, f) HIDDEN_(c, l, a, f, "", NULL)
#define OPT_ACCEPTED(c, l) ACCEPTED_(c, l, OPT_ARG_NONE, accept_nothing)
#define OPT_ACCEPTED_ARG(c, l) ACCEPTED_(c, l, OPT_ARG_REQUIRED, accept_nothing)
#define OPT_ACCEPTED_OPTIONAL(l) ACCEPTED_(0, l, OPT_ARG_OPTIONAL, accept_nothing)
/* Why it is not done, and what helps. */
#define OPT_REFUSED(c, l, a, why, instead) HIDDEN_(c, l, a, accept_refused, why, instead)
/* Hardware traces (Intel PT, CoreSight). */
#define REFUSED_TRACES_(l, a)                                                         \
	OPT_REFUSED(0, l, a, "hardware traces (Intel PT, CoreSight) are not decoded", \
		    "samples of the same recording are shown without it")
#define OPT_OF_TRACES(l) REFUSED_TRACES_(l, OPT_ARG_OPTIONAL)
#define OPT_OF_TRACES_ARG(l) REFUSED_TRACES_(l, OPT_ARG_REQUIRED)
/* perf's scripts in Perl and Python, and its filters in C. */
#define OPT_OF_SCRIPTS(c, l, a)                                                                  \
	OPT_REFUSED(c, l, a, "perf's scripts (Perl, Python) and filters (C) are not run",        \
		    "kymo run -i FILE runs a program of the tracing language over a "            \
		    "recording, kymo script -j gives its events to any other; kymo tools lists " \
		    "programs that are ready")
/* -D where a recording is not shown record by record. */
#define OPT_OF_DUMPS()                                                                  \
	OPT_REFUSED('D', "dump-raw-trace", OPT_ARG_NONE, "records are not dumped here", \
		    "kymo script -D -i FILE shows every record with its bytes")
/* Guests whose host was recorded. */
#define OPT_OF_GUESTS(l, a)                                                \
	OPT_REFUSED(0, l, a, "guests are not looked into from their host", \
		    "record inside the guest")
/* Cycles between the branches that the CPU recorded. */
#define OPT_OF_CYCLES(l)                                                           \
	OPT_REFUSED(0, l, OPT_ARG_NONE, "cycles of branch records are not summed", \
		    "report -b sums the branches themselves")
