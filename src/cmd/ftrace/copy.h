/* SPDX-License-Identifier: MIT */
/* A trace.dat that is written anew: everything but the pages, which the caller fills in. */
#pragma once

#include "store/tracedat/tracedat.h"
#include "store/tracedat/write.h"

struct ftrace_copy {
	struct tracedat_out o;
	char *clocks, *date, *offset;
	struct tracedat_out_buffer *buffers;
	struct tracedat_out_cpu *cpus; /* of all buffers, one after the other; without pages */
	size_t n_cpus;
};

/* s must outlive it. */
void ftrace_copy_head(const struct source *s, struct ftrace_copy *c);
void ftrace_copy_free(struct ftrace_copy *c);
