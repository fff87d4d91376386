/* SPDX-License-Identifier: MIT */
/* Timed calls summed up and shown: what the ways of `kymo functime` share. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "live/probe/functime_abi.h"

struct functime_call {
	uint64_t time, took;
	int32_t tid;
	char *text; /* owned: its arguments */
	char comm[16];
};

struct functime_sums {
	uint64_t bucket[FUNCTIME_BUCKETS], n, sum, max;
	uint64_t lone; /* of which only one end was seen */
	VEC(struct functime_call) slow;
	size_t keep; /* so many of them */
};

/* Among the slowest only; its text becomes ours. comm may be NULL. */
void functime_keep(struct functime_sums *s, struct functime_call c, const char *comm);
/* The histogram and a line about all; what: "calls". There must be some. */
void functime_print(const struct functime_sums *s, const char *what);
void functime_print_slow(struct functime_sums *s);
void functime_free(struct functime_sums *s);

/* How begin and end are told apart, and what pairs them. */
struct functime_plan {
	const char *name;	 /* of what is no function */
	const char *function;	 /* whose probes show an address instead */
	const char *begin, *end; /* events as SYSTEM:NAME */
	const char *kind;	 /* what tells them apart, as their text has it: "action" */
	bool by_cpu;		 /* interrupts belong to CPUs, calls to threads */
	bool turns; /* the event ends one and begins the next; idle ones do not count */
};

struct source;
struct ftrace_opts;
/* Read the recording and print what came out. */
int functime_pairs(struct source *s, const struct functime_plan *p, const struct ftrace_opts *o,
		   size_t keep, struct err *e);
