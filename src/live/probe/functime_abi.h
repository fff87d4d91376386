/* SPDX-License-Identifier: MIT */
/* Between bpf/time.bpf.c and live/probe/functime.c: what the kernel sums up of timed calls. */
#pragma once

#ifndef __bpf__
#	include <linux/types.h>
#endif

#define FUNCTIME_ARGS 6
#define FUNCTIME_BUCKETS 64
#define FUNCTIME_SLOW 32   /* that each CPU remembers */
#define FUNCTIME_NESTED 16 /* calls of one thread within each other */
#define FUNCTIME_THREADS 16384

struct functime_slow {
	__u64 time, took;
	__u64 args[FUNCTIME_ARGS];
	__u32 tid, n_args;
	char comm[16];
};

/* Of one CPU, so that nobody waits for another. */
struct functime_cpu {
	__u64 bucket[FUNCTIME_BUCKETS]; /* by powers of two of nanoseconds */
	__u64 n, sum, max;
	__u64 lone;	     /* calls of which only one end was seen */
	__u32 n_slow, least; /* how many there are, and which took least */
	struct functime_slow slow[FUNCTIME_SLOW];
};
