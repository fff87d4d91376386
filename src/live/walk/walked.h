/* SPDX-License-Identifier: MIT */
/*
 * A capture whose stacks are walked in the kernel (live/walk/walker.h): side-band from
 * the rings tells the walker what is mapped, and its samples become ordinary
 * sample records with call chains, as if the kernel had written them. Time off the
 * CPU is summed by it too, with samples of its own or beside the kernel's. Tracepoints
 * and probes keep the kernel's samples, and get the user's part of their chains
 * (live/walk/walked_hits.h).
 */
#ifndef KYMO_LIVE_WALK_WALKED_H
#define KYMO_LIVE_WALK_WALKED_H

#include "live/capture/capture.h"
#include "live/capture/offcpu.h"
#include "live/walk/walked_hits.h"
#include "live/walk/walker.h"

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

/*
 * Can these events be walked at all? e says why not: too many events, or fields that
 * only the kernel's own samples have.
 */
int walked_fits(const struct spec_list *specs, const struct capture_opts *o, struct err *e);

/* The same for time off the CPU alone. */
int walked_fits_off(const struct capture_opts *o, struct err *e);

/* What capture_open() must be told of a walker that is open: both sides share one clock. */
void walked_prepare(const struct walked *w, const struct spec_list *specs, struct capture_opts *o);

/*
 * Load the program. samples: it makes them; else only those of o->off. Where BPF, or something it
 * needs, is missing, samples get copies of stacks, and e says why; without samples it fails.
 */
int walked_open(struct walked *w, const struct spec_list *specs, const struct target *t,
		const struct capture_opts *o, bool samples, struct err *e);
/* Take over the samples of an open capture, before it is switched on; its attrs then say what the
 * records hold. */
int walked_attach(struct walked *w, struct capture *c, struct err *e);
/* Everything since the last call, side-band and samples, as whole records; at the end what was
 * summed, too, and what still waits. Returns bytes. */
int64_t walked_drain(struct walked *w, bool end, ring_fn *fn, void *ctx, struct err *e);
/*
 * Side-band alone, from rings of the caller's whose records have w->side_type behind
 * them: in the order of time to the walker, if there is one, and to fn. m is the
 * record's mapping; NULL: it is none.
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

#endif
