/* SPDX-License-Identifier: MIT */
/*
 * What a trace.dat holds besides pages: formats, kernel symbols, names of tasks,
 * statistics of the buffers. Read before the instances go.
 */
#pragma once

#include "base/err.h"
#include "live/ftrace/ftrace.h"
#include "store/tracedat/write.h"

/* Texts of the machine and of the events that f traces. f may have no buffers: all events then. */
int ftrace_about(const struct ftrace *f, struct tracedat_out *o, struct err *e);
/* The kernel's statistics of one CPU, and how many events it lost. */
uint64_t ftrace_stats(const char *dir, uint32_t cpu, struct strbuf *text);
/* The clock an instance uses ("local"), from trace_clock; "local" when it cannot be read. */
char *ftrace_clock(const char *dir);
/* Microseconds from the clock to 1970 as "0x..."; NULL when it cannot be found out. */
char *ftrace_date(const struct ftrace *f, const char *clock);
/* TEXT at the end of a line "NAME: TEXT" of a statistics file, as a number; 0 when missing. */
uint64_t ftrace_stat_number(const char *text, const char *name);
