/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints hit while a CPU idles, on kernels that keep them from perf (kern/ability/try_idle.h):
 * BPF programs still run there. So where whole CPUs are recorded, a small program at each
 * tracepoint sends what it finds in the idle task, and it becomes the sample that perf should have
 * had.
 */
#pragma once

#include "kern/bpf.h"
#include "live/capture/capture.h"

struct idle_event;

struct idle_hits {
	struct cpus lost; /* CPUs whose hits perf does not get; none: nothing is done */
	struct idle_event *event;
	size_t n;
	int cpus_map, ring_map;
	struct bpf_ring ring;
	uint8_t *record; /* the one being made */
	struct arena arena;
	uint64_t added;	   /* samples */
	uint64_t filtered; /* tracepoints whose filter BPF cannot apply: these hits are not seen */
};

/* Are there such CPUs in t, and tracepoints for them? Then o gets BPF's clock. To be called
 * before ourselves_filter(), whose filters do not matter here. */
bool idle_choose(struct idle_hits *i, const struct spec_list *specs, const struct target *t,
		 struct capture_opts *o);
/* After capture_open(). What cannot be done leaves the recording as it is: -errno and why. */
int idle_attach(struct idle_hits *i, const struct capture *c, struct err *e);
/* Only while on are hits sent. */
void idle_switch(struct idle_hits *i, bool on);
/* As capture_drain(). */
int64_t idle_drain(struct idle_hits *i, ring_fn *fn, void *ctx, struct err *e);
/* Hits that did not fit, or came while another program was at work. */
uint64_t idle_missed(const struct idle_hits *i);
void idle_close(struct idle_hits *i); /* a zeroed one is fine */
