/* SPDX-License-Identifier: MIT */
/*
 * Time off the CPU as samples of the event "offcpu-time", a period in nanoseconds and the stack
 * that waited, as perf record --off-cpu writes them. Kernel stacks begin behind the scheduler. The
 * address is the user's innermost function, as perf's is; the system call's kernel functions are in
 * the chain.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "event/spec/spec.h"
#include "event/waker.h"
#include "live/about/ksyms.h"
#include "live/capture/capture.h"
#include "live/walk/walker.h"

#define OFFCPU_DEFAULT_MS 500 /* waits so long get samples of their own, as with perf */

/* Ranges of kernel code that are told from other code. */
struct offcpu_range {
	uint64_t start, end;
};
struct offcpu_ranges {
	VEC(struct offcpu_range) v;
};
struct offcpu_kernel {
	struct offcpu_ranges schedule; /* how a task leaves the CPU: __schedule */
	struct offcpu_ranges wake;     /* how one is woken: try_to_wake_up */
	struct offcpu_ranges interrupt;
};

/* A stack that waits or wakers have, by hash. */
struct offcpu_stack {
	int32_t pid, tid;
	uint32_t n_kernel, n_user;
	uint64_t *frames; /* kernel's, then user's; innermost first */
	char comm[16];
};

struct offcpu {
	struct walker *walker;
	struct capture_event *event;
	struct offcpu_kernel kernel;
	bool has_kernel, wakers;
	int32_t leave_out; /* a process without samples: ourselves; 0: none */
	struct map index;  /* hash to stacks + 1 */
	VEC(struct offcpu_stack) stacks;
	struct arena frames;
	VEC(struct walker_sample) early; /* waits whose stacks are not there yet */
	struct map waker_pids;
	VEC(int32_t) waker_list;
	uint8_t *record;
	uint64_t ns, samples, stackless;
};

/* The event's place in a list of events, which must not have it yet. */
void offcpu_add_event(struct spec_list *l);
bool offcpu_is_event(const struct event_spec *s);

/* When events are open: what the samples hold, and whom to record. */
int offcpu_start(struct offcpu *o, struct walker *w, struct capture *c, struct err *e);
/* Names of the kernel's functions, before the first sample is made. */
void offcpu_kernel(struct offcpu *o, const struct ksyms *k);
/* One of the walker's; false when it is an ordinary sample. */
bool offcpu_take(struct offcpu *o, const struct walker_sample *s);
/* Make samples of what has come; end: of all that was summed. Returns bytes. */
int64_t offcpu_drain(struct offcpu *o, bool end, ring_fn *fn, void *ctx, struct err *e);
/* Sums so far into samples, as when a file ends and another one begins. */
void offcpu_flush(struct offcpu *o);
void offcpu_free(struct offcpu *o);
