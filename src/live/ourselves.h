/* SPDX-License-Identifier: MIT */
/*
 * Keeping the recorder out of what it records, as far as the kernel allows.
 *
 * Tracepoints have filters. Samples of clocks and counters are dropped by a BPF
 * program of five instructions, where such programs may be loaded. Both know
 * processes by their number in the first PID namespace, which in a container a BPF
 * program tells; where that is refused, nothing is left out.
 */
#pragma once

#include <stdbool.h>

#include "live/capture/capture.h"

/*
 * Before the events are opened. all: of every tracepoint; else only of system calls,
 * where recording makes more to record. Scheduler events are made by whoever leaves a
 * CPU: without ours nobody would know when the next task came to run.
 */
void ourselves_filter(struct spec_list *l, bool all);
/* When they are open, and not started. */
void ourselves_drop_samples(struct capture *c);
/* Tracepoints of these are what a process does, this one included. */
bool ourselves_feed(const char *subsys);
/* Our number as the kernel knows it; 0 when it is not known. */
int ourselves_pid(void);
/* Do the kernel and /proc know processes by the same numbers? */
bool ourselves_known(void);
