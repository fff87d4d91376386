/* SPDX-License-Identifier: MIT */
/* What a trace.dat holds beside its events, part by part, as trace-cmd dump words it. */
#pragma once

#include "base/out.h"
#include "event/trace.h"

enum ftrace_dump_item {
	FTRACE_DUMP_SUMMARY = 1u << 0,
	FTRACE_DUMP_HEAD_PAGE = 1u << 1,
	FTRACE_DUMP_HEAD_EVENT = 1u << 2,
	FTRACE_DUMP_FTRACE_EVENTS = 1u << 3,
	FTRACE_DUMP_SYSTEMS = 1u << 4,
	FTRACE_DUMP_EVENTS = 1u << 5,
	FTRACE_DUMP_KALLSYMS = 1u << 6,
	FTRACE_DUMP_PRINTK = 1u << 7,
	FTRACE_DUMP_CMD_LINES = 1u << 8,
	FTRACE_DUMP_OPTIONS = 1u << 9,
	FTRACE_DUMP_FLYRECORD = 1u << 10,
	FTRACE_DUMP_CLOCK = 1u << 11,
	FTRACE_DUMP_STRINGS = 1u << 12,
	FTRACE_DUMP_SECTIONS = 1u << 13,
	FTRACE_DUMP_ALL = (1u << 14) - 1,
};

/*
 * s: from tracedat_open_raw(). items: which, joined by |. What stands before a place that was cut
 * or is damaged is printed, and then it fails.
 */
int ftrace_dump(const struct source *s, const char *path, unsigned items, struct out *out,
		struct err *e);
