/* SPDX-License-Identifier: MIT */
/*
 * A capture whose stacks are walked in the kernel (live/walk/walker.h): side-band tells the walker
 * what is mapped, and its samples become ordinary records with call chains. Time off the CPU is
 * summed by it, too. Tracepoints and probes keep the kernel's samples, and get the user's part of
 * their chains (struct walked_hits).
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "live/capture/capture.h"
#include "live/capture/offcpu.h"
#include "live/walk/walker.h"

/*
 * Samples of tracepoints and probes: the kernel writes them with its own part of the call chain;
 * the user's part comes through the walker's ring, a moment before. What belongs together has the
 * same thread and user registers; the stack is the thread's last before the sample, or the first
 * after it where somebody else has recorded the tracepoint before. A sample waits for its stack.
 *
 * Where the kernel takes no program, samples bring copies of stacks, which are unwound and left out
 * here.
 */

struct hit_stack {
	uint64_t time, mark; /* walker_mark() */
	const uint64_t *frames;
	uint32_t n;
	uint8_t end; /* enum unwind_end */
	bool later;  /* not there yet */
};
/* A thread's, by time. */
struct hit_thread {
	VEC(struct hit_stack) stacks;
};

struct hit_held {
	size_t at; /* of the record in waiting */
	uint64_t mark;
	uint8_t end; /* UNWIND_BOTTOM: there is a stack to be found */
	bool old;    /* was there at the end of the last drain */
};

struct walked_hits {
	bool on, copies;
	struct map order; /* by event: how many stacks came before (> 0), or after their samples */
	uint64_t regs;	  /* with copies: which registers a sample has */
	struct walker *walker;		  /* with copies: who unwinds them */
	uint64_t sample_type;		  /* as it comes */
	size_t tid_at, time_at, chain_at; /* in a sample */
	/* Stacks, and those of the time before, which are dropped next. */
	struct hit_generation {
		struct map thread; /* tid to its place in threads + 1 */
		VEC(struct hit_thread) threads;
		struct arena frames;
		size_t bytes;
	} now, before;
	uint64_t turned;       /* when now began */
	struct strbuf waiting; /* samples that have no stack yet */
	VEC(struct hit_held) held;
	struct strbuf out;
	uint64_t end[UNWIND_END_MAX], without; /* samples by how their stacks ended; with none */
};

/* Tracepoints and probes: those whose samples stay the kernel's. */
static inline bool walked_hits_is(const struct event_spec *s)
{
	return s->kind == SPEC_TRACEPOINT;
}
/* Can this event's stacks be had like this? e says why not. */
int walked_hits_fits(const struct event_spec *s, struct err *e);
/* Have the walker attached to all tracepoints among specs, before they are opened, ... */
int walked_hits_open(const struct spec_list *specs, struct walker *w, struct err *e);
/* ... and to probes when they are open; the attrs then say what the records hold. */
int walked_hits_start(struct walked_hits *h, struct walker *w, struct capture *c, struct err *e);
/* Samples of c's events have copies of their stacks; the attrs then say that they have not. */
int walked_hits_copies(struct walked_hits *h, struct walker *w, struct capture *c, struct err *e);
/* One of the walker's; false when it is none of these. */
bool walked_hits_stack(struct walked_hits *h, const struct walker_sample *s);
/* Records from the rings: samples are kept back, the others go to fn at once. */
int walked_hits_records(struct walked_hits *h, const uint8_t *data, size_t n, ring_fn *fn,
			void *ctx, struct err *e);
/* Hand out the samples that can be; at the end all. Returns bytes. */
int64_t walked_hits_drain(struct walked_hits *h, bool end, ring_fn *fn, void *ctx, struct err *e);
void walked_hits_free(struct walked_hits *h);

struct walked {
	struct walker *walker;
	struct capture *capture;
	bool samples;	    /* it makes those of the capture's events, too */
	uint32_t max_stack; /* frames that were asked for; 0: as many as it can */
	bool copies;	    /* the kernel copies stacks: it takes no program */
	struct offcpu off;  /* walker NULL: none */
	struct walked_hits hits;
	uint64_t sample_type; /* of the samples that are made */
	uint64_t side_type;   /* of what tracks tasks */
	int32_t leave_out;    /* a process without samples: ourselves; 0: none */
	uint8_t *buffer;
	size_t used, cap;
	uint8_t *record; /* one sample being made */
};

/* Can these events be walked? e says why not: too many, or fields that only the kernel has. */
int walked_fits(const struct spec_list *specs, const struct capture_opts *o, struct err *e);

/* The same for time off the CPU alone. */
int walked_fits_off(const struct capture_opts *o, struct err *e);

/* What capture_open() must be told of a walker that is open: both sides share one clock. */
void walked_prepare(const struct walked *w, const struct spec_list *specs, struct capture_opts *o);

/* Loads the program; samples: it makes them, else only those of o->off. Without BPF, samples get
 * copies of stacks, and e says why; without samples it fails. */
int walked_open(struct walked *w, const struct spec_list *specs, const struct target *t,
		const struct capture_opts *o, bool samples, struct err *e);
/* Take over the samples of an open capture, before it is switched on; its attrs then say what the
 * records hold. */
int walked_attach(struct walked *w, struct capture *c, struct err *e);
/* All since the last call as whole records; at the end what was summed and waits, too. Bytes. */
int64_t walked_drain(struct walked *w, bool end, ring_fn *fn, void *ctx, struct err *e);
/*
 * Side-band alone, in the order of time, to the walker (if any) and to fn, from rings whose records
 * end with w->side_type. m: the record's mapping, or NULL.
 */
typedef void walked_side_fn(void *ctx, const struct perf_event_header *h,
			    const struct walker_mmap *m);
int walked_side(struct walked *w, struct ring *ring, size_t n, walked_side_fn *fn, void *ctx,
		struct err *e);
/* Let time off the CPU be summed, or not. */
void walked_switch(struct walked *w, bool on);
void walked_close(struct walked *w);

/* The walker's, and those of tracepoints and probes. */
void walked_stats(const struct walked *w, struct walker_stats *ret);
/* Share of user stacks that reached the bottom, in %; 100 when there were none. */
double walked_whole(const struct walker_stats *s);
