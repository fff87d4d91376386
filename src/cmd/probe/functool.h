/* SPDX-License-Identifier: MIT */
/*
 * What the function tools (functrace, funcgraph, kprobe, tpoint ...) share: set up
 * tracing, print the kernel's text as it comes or after a while, put all back.
 */
#pragma once

#include "base/opt.h"
#include "cmd/ftrace/opts.h"
#include "cmd/share/event_opts.h"
#include "kern/probe_events.h"

/* First in a tool's args. */
struct functool {
	struct ftrace_args t;
	const char *pid, *tid, *seconds;
	bool headers, stack, view, force; /* force: nothing that it would skip is checked */
	/* what is said before: 'Tracing "vfs_read" ...' */
	char what[256];
	/* made before tracing starts; NULL: none */
	struct raw_probe probe;
	bool user_probe, has_probe;
	/* function_graph: columns before the calls, if the text is to begin with those asked for */
	unsigned graph_bars;
	bool graph;
};

#define FUNCTOOL_OPTS                                                                        \
	OPT_STR_C('p', "pid", "PID,...", ft.pid, "only these processes and what they start", \
		  "@pids"),                                                                  \
		OPT_STR('L', "tid", "TID", ft.tid, "only this thread"),                      \
		OPT_DURATION('d', ft.seconds,                                                \
			     "trace so long, then print (fewer events are lost)"),           \
		OPT_FLAG('H', "headers", ft.headers, "show the headings of the columns")

/* What their commands have in common; args begin with the struct functool. */
#define FUNCTOOL_COMMAND(n)                                                               \
	.name = #n, .group = "Trace", .opts = n##_opts, .args_size = sizeof(struct args), \
	.run = n##_run, .drop = functool_drop

/* Trace and print. Threads of -p and -L are added to what is traced. */
int functool_run(struct functool *f, struct err *e);
void functool_drop(void *args);
/* One more event to trace. */
void functool_event(struct functool *f, const char *name, const char *filter);
/* The tids that -p and -L name into f->t.o.pids. */
int functool_pids(struct functool *f, struct err *e);
/* Say what else can be done where the kernel refuses to trace functions. */
int functool_hint(struct err *e, int code);
