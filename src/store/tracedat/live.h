/* SPDX-License-Identifier: MIT */
/*
 * What is being traced now: the pages that the kernel hands out (per_cpu/cpuN/trace_pipe_raw), as a
 * source that is polled, with the same code as files have. Records of the kernel's own making, such
 * as stacks, are events of their own; one that no format describes is EVENT_OTHER.
 */
#pragma once

#include "store/tracedat/tracedat.h"
#include "store/tracedat/write.h"

struct tracedat_live_cpu {
	uint32_t cpu;
	int fd; /* each read() is a page; must not block */
};

/*
 * A trace of the parts (header, formats, symbols, names, clocks) that a file would be written of;
 * their texts are taken over, also when it fails, and so are the descriptors. Pages of page_size.
 */
int tracedat_live_open(struct tracedat_out *parts, const struct tracedat_live_cpu *cpus, size_t n,
		       uint32_t page_size, struct source **ret, struct err *e);
/* The stamp of the newest record that has come, be it handed out yet or not; 0: none has. */
uint64_t tracedat_live_newest(const struct source *s);
