/* SPDX-License-Identifier: MIT */
/*
 * Raw pages of trace buffers into files, one thread a CPU, by splice: they are not
 * copied through user space.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/output.h"
#include "live/ftrace/ftrace.h"

struct ftrace_capture_opts {
	const char *output; /* files are OUTPUT.cpuN, OUTPUT.NAME.cpuN */
	uint64_t max_kb;    /* for each CPU; 0: no limit. The newest are kept. */
	uint64_t sleep_us;  /* between looks; 0: woken by the kernel */
	int priority;	    /* of SCHED_FIFO; 0: as we are */
	bool snapshot;	    /* the snapshot's pages, not the buffer's */
};

/* What one CPU of one buffer left. */
struct ftrace_captured {
	size_t buffer;
	uint32_t cpu;
	struct output file, older; /* a ring of two files; older may be OUTPUT_NONE */
	int fd, older_fd;	   /* theirs */
	uint64_t size, older_size;
	int error; /* positive errno of what ended it too soon; 0 */
};

struct ftrace_capture;
/* The threads run and wait for pages. */
int ftrace_capture_start(struct ftrace *f, const struct ftrace_capture_opts *o,
			 struct ftrace_capture **ret, struct err *e);
/* Their ids, to be left out of the trace. */
const pid_t *ftrace_capture_tids(const struct ftrace_capture *c, size_t *n);
/* Take what is left and end the threads. */
void ftrace_capture_stop(struct ftrace_capture *c);
struct ftrace_captured *ftrace_captured(struct ftrace_capture *c, size_t *n);
/* While the threads run: about how much there is. */
uint64_t ftrace_capture_so_far(const struct ftrace_capture *c);
uint64_t ftrace_capture_bytes(const struct ftrace_capture *c);
/* Also removes the files, unless they are to be kept. */
void ftrace_capture_free(struct ftrace_capture *c, bool keep);

/* The CPUs an instance has buffers for, ascending. */
int ftrace_cpus(const char *dir, uint32_t **ret, size_t *n, struct err *e);
/* The size of the pages that trace_pipe_raw hands out. */
uint32_t ftrace_page_size(const char *dir);

/*
 * Before ftrace_start(). Buffers whose pages will have records of these threads, to be
 * left out when they are saved, have own_inside set.
 */
int ftrace_own_exclude(struct ftrace *f, const struct ftrace_capture *c, struct err *e);
