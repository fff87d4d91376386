/* SPDX-License-Identifier: MIT */
/*
 * Records about what was there before the recording: tasks and mappings from /proc, cgroups, the
 * kernel's and its modules' places. Like the kernel's own, with time 0.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "live/about/ksyms.h"
#include "live/target.h"

/* Takes a whole record: struct perf_event_header and what follows. */
typedef int synth_fn(void *ctx, const void *record, size_t n, struct err *e);

struct synth {
	uint64_t sample_type;	/* of the event that tracks tasks: the trailer of each record */
	uint64_t event_id;	/* its id */
	bool no_tasks, no_maps; /* what is wanted (--synth) */
	bool data_maps;		/* data mappings too (-d) */
	bool namespaces;	/* and namespaces of tasks */
	synth_fn *fn;
	void *ctx;
};

/* The kernel and its modules. */
int synth_kernel(const struct synth *s, const struct ksyms *k, struct err *e);
/* A process: names of all its threads, and its mappings. One that has gone is no error. */
int synth_process(const struct synth *s, pid_t pid, struct err *e);
/* Each process that has one of these threads. */
int synth_threads(const struct synth *s, const struct thread_list *threads, struct err *e);
int synth_all(const struct synth *s, struct err *e);
/* All cgroups there are, with the ids that samples carry. */
int synth_cgroups(const struct synth *s, struct err *e);

/* Events that an event lost. */
int synth_lost(const struct synth *s, uint64_t lost, struct err *e);
