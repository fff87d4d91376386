/* SPDX-License-Identifier: MIT */
/* A recording in progress: events opened on a target with rings. Bytes go to whoever asks as
 * they stand. Loss is counted by the kernel per event and read at the end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/spec/spec.h"
#include "event/type.h"
#include "live/capture/ring.h"
#include "live/loop.h"
#include "live/target.h"
#include "live/walk/walker.h"

struct perfdata_event; /* store/perfdata/write.h */
struct synth;	       /* live/about/synth.h */

enum capture_chain {
	CAPTURE_NO_CHAIN,
	CAPTURE_FP,
	CAPTURE_DWARF,
	CAPTURE_LBR,
	CAPTURE_AUTO,	/* walked in the kernel where that works (live/walk/walked.h), else by frame
			   pointers */
	CAPTURE_WALKED, /* so it is: tracepoints have the kernel's own part of their chains */
};

struct capture_opts {
	uint64_t freq;	 /* samples a second; 0: by period */
	bool freq_given; /* for tracepoints too, which are taken each time otherwise */
	uint64_t period; /* a sample each so many events, whatever freq says; 0: not so */
	enum capture_chain chain;
	uint32_t stack_size;		/* CAPTURE_DWARF */
	uint32_t max_stack;		/* 0: the kernel's */
	size_t ring_size;		/* bytes a ring; 0: chosen */
	bool few_records;		/* only tasks and mappings: small rings will do */
	bool inherit, on_exec, delayed; /* delayed: started by capture_enable() only */
	bool overwrite;			/* flight recorder; what tracks tasks is not overwritten */
	bool prompt; /* wake up at every record: the rings hold little, but it matters at once */
	bool apart;  /* what tracks tasks has rings of its own, and only there prompt counts */
	bool switch_events, data_addr, weight, phys_addr, raw, time, cpu, read_counts;
	bool data_page, code_page, cgroup, no_samples, namespaces, transaction, running_time;
	bool kernel_ids; /* build-ids by the kernel, whom else that may harm: mapped_ids.h */
	bool all_user, all_kernel, no_tracking, no_bpf_records, identifier;
	bool kernel_chains, user_chains; /* chains have only this part */
	bool no_buffering;		 /* wake up at each sample */
	bool per_thread;		 /* a ring for each thread */
	int period_field;		 /* 1: each sample has it, -1: none, 0: where it varies */
	uint64_t intr_regs, user_regs;	 /* masks; 0: none */
	uint64_t branch_type;		 /* 0: none */
	bool has_clock;
	int clock_id;
	/* cgroups[i] names the cgroup of event i (NULL: none); NULL when there are none. */
	const char *const *cgroups;
	struct walker_off off; /* time off the CPU: on, wakers, direct_ns, sums */
	/* The event could not be had and another was taken for it (cycles by cpu-clock). May be
	 * NULL. taken says how often, too, where a period is dropped. */
	void (*fallback)(void *ctx, const char *wanted, const char *taken, const char *why);
	void *ctx;
};

/* Mappings without code, too: for addresses of data, and for perf to unwind copied stacks. */
static inline bool capture_data_maps(const struct capture_opts *o)
{
	return o->data_addr || o->chain == CAPTURE_DWARF;
}

/* One event as it was opened. */
struct capture_event {
	struct event_spec *spec;
	struct perf_event_attr attr;
	int *fd; /* by place, -1 where it is not open */
	size_t n_fds;
	uint64_t *id; /* of those that are open */
	size_t n_ids;
	int cgroup_fd; /* -1: none */
	uint64_t lost; /* set by capture_losses */
	bool tracking; /* gives mmap, comm, fork, exit */
};

struct capture {
	struct capture_event *event;
	size_t n;
	struct ring *ring;
	size_t n_rings;	 /* with opts.overwrite or apart as many again, of what tracks tasks */
	size_t *watched; /* of each ring: which of its descriptors is waited on */
	size_t n_live;	 /* rings that something may still be written to */
	struct target *target;
	struct capture_opts opts;
	struct spec_list *specs;
	struct cpus only; /* where events are opened that do more than track; none: everywhere */
	size_t ring_size; /* that was had */
	bool dummy;	  /* an event was added to specs */
	struct mapped_ids *ids; /* NULL: the kernel gives build-ids */
};

/* specs may get a tracking event (until capture_close), lose events and change names. t must
 * outlive it. */
int capture_open(struct spec_list *specs, struct target *t, const struct capture_opts *o,
		 struct capture *ret, struct err *e);
/* An event of its own group at the end of the list. */
void capture_add_spec(struct spec_list *l, struct event_spec s);
int capture_enable(struct capture *c, struct err *e);
int capture_disable(struct capture *c);
/* One event by its name; -ENOENT when there is none of that name. */
int capture_switch(struct capture *c, const char *name, bool on);
/* Have the loop wake up when rings fill: LOOP_FD with this id. */
int capture_watch(struct capture *c, struct loop *l, int id, struct err *e);
/* What a watched descriptor followed has ended: waits for another of its ring. False: nothing is
 * left that could write. */
bool capture_hung_up(struct capture *c, struct loop *l, int id, int fd);
void capture_unwatch(struct capture *c, struct loop *l);
/* Everything that is in the rings now. Returns bytes. */
int64_t capture_drain(struct capture *c, ring_fn *fn, void *ctx, struct err *e);
/* Flight recorder: stop, hand out what came since the last time, go on; what is not overwritten,
 * too. */
int64_t capture_snapshot(struct capture *c, ring_fn *fn, void *ctx, struct err *e);
/* Events that the kernel had no room for, over all; also in event[].lost and ring[].lost. */
uint64_t capture_losses(struct capture *c);
/* The event whose records describe tasks; NULL when there is none. */
struct capture_event *capture_tracking(const struct capture *c);
/* Records that synth makes shall look like this event's. */
void capture_synth(const struct capture_event *ev, struct synth *s);
/* The events as whoever writes them knows them; the caller frees the array alone. */
struct perfdata_event *capture_events(const struct capture *c);
/* An event as a reader of the recording will see it, and how the kernel was asked for it. */
struct event_type capture_type(const struct capture_event *ev);
void capture_settings(const struct capture *c, const struct capture_event *ev, setting_fn *fn,
		      void *ctx);
void capture_close(struct capture *c);
