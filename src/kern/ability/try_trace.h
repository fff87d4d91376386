/* SPDX-License-Identifier: MIT */
/*
 * What tracefs grants this process, and what others left there. A probe is tried by defining one
 * that is never enabled and removing it at once (what a killed kymo left is removed first), the
 * function tracer by reading the functions it offers: nothing is switched on.
 */
#ifndef KYMO_KERN_ABILITY_TRY_TRACE_H
#define KYMO_KERN_ABILITY_TRY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct try_trace {
	bool possible;	   /* the kernel has a tracefs */
	char path[256];	   /* where tracefs is; "" when it is not mounted */
	char debugfs[256]; /* the same for debugfs */
	int readable;	   /* its files: 0 or -errno */
	int writable;
	int kprobe, uprobe, fprobe; /* 0; -ENOENT: the kernel has none; -errno: refused */
	int function;		    /* the function tracer, the same way */
	bool graph;		    /* function_graph is among the tracers */
	bool hist, snapshot;
	bool kprobes_off;	/* /sys/kernel/debug/kprobes/enabled is 0 */
	int64_t ftrace_enabled; /* TRY_ABSENT where there is no such setting */
	unsigned events;	/* tracepoints and probes on offer */
	char tracers[256];

	/* What others left, in the top-level buffer. */
	bool stopped;	    /* tracing_on is 0 */
	char current[64];   /* the tracer that is on, "" for nop */
	unsigned enabled;   /* events that are on */
	unsigned probes;    /* dynamic events defined */
	unsigned instances; /* buffers of their own */
};

/* perfmon: whether perf's probe PMUs are worth asking where tracefs may not be written. */
void try_trace(struct try_trace *t, bool perfmon);

#endif
