/* SPDX-License-Identifier: MIT */
/*
 * Who made a system call: stacks beside the calls (kymo trace --call-graph), and
 * names for addresses.
 *
 * A monitor (live/capture/monitor.h) follows what is mapped where, so that also processes that
 * are gone have names; its event never happens, and its walker makes the stacks for the
 * tracer's programs. Call and stack have thread and time in common.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "live/capture/monitor.h"
#include "sym/names/sym.h"

struct trace_stack {
	uint32_t tid, pid;
	uint64_t time;
	uint32_t n;
	uint64_t *addr; /* innermost first */
};

struct trace_stacks {
	struct monitor monitor;
	struct spec_list specs;
	struct symbols *symbols;
	VEC(uint32_t) dsos; /* of symbols, by the trace's; 0: not asked yet, else + 1 */
	VEC(struct trace_stack) stacks;
	struct map at; /* index + 1 by thread and time */
	struct arena arena;
	uint32_t max;
	bool open;
};

/* max: frames; 0: no stacks, only names. The target must outlive it. */
int trace_stacks_open(struct trace_stacks *s, struct target *t, uint32_t max, struct err *e);
/* NULL: there is none; e was not filled. */
struct walker *trace_stacks_walker(const struct trace_stacks *s);
int trace_stacks_start(struct trace_stacks *s, struct err *e);
/* Take in what has come. */
int trace_stacks_poll(struct trace_stacks *s, struct err *e);
/* Have the walker finish what waits for tables. */
void trace_stacks_settle(struct trace_stacks *s);
const struct trace_stack *trace_stacks_find(const struct trace_stacks *s, uint32_t tid,
					    uint64_t time);
/* "main+0x10 (/usr/bin/x)"; what: "[unknown]" when nothing is known. */
void trace_stacks_name(struct trace_stacks *s, uint32_t pid, uint64_t time, uint64_t addr,
		       struct strbuf *b);
/* Forget the stacks: all calls that they belong to were shown. */
void trace_stacks_forget(struct trace_stacks *s);
void trace_stacks_close(struct trace_stacks *s);
