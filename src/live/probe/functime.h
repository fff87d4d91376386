/* SPDX-License-Identifier: MIT */
/*
 * Timing a kernel function with BPF programs at its entry and exit (fentry, fexit): cheaper than
 * probes, nothing is trapped or sent. Needs BTF and trampolines; whoever gets an error uses probes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "live/probe/functime_abi.h"

struct functime;

struct functime_opts {
	const char *function;
	const pid_t *who; /* only these threads */
	size_t n_who;	  /* 0: all */
	bool by_process;  /* and all threads of the processes among them */
};

/* On success it is timing already. On failure *ret is untouched. */
int functime_open(const struct functime_opts *o, struct functime **ret, struct err *e);
/* What each CPU has summed up; the caller frees. */
int functime_read(const struct functime *t, struct functime_cpu **ret, size_t *n, struct err *e);
/* Calls that came while the programs were at work on the same CPU already. */
uint64_t functime_missed(const struct functime *t);
/* " count=4096 pos=0x0": the arguments by name and type. */
void functime_args(const struct functime *t, const struct functime_slow *s, struct strbuf *out);
void functime_close(struct functime *t); /* NULL is fine */
