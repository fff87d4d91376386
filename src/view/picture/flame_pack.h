/* SPDX-License-Identifier: MIT */
/* A profile as the numbers the interactive page reads; flame_html.c makes them fit. */
#pragma once

#include "base/vec.h"
#include "view/picture/flame_html.h"
#include "view/picture/pack.h"

#define FLAME_STEPS 1024u /* of time, at best */

/* How much goes in. */
struct flame_detail {
	double min_share; /* frames below it are pruned */
	size_t max_nodes; /* with more, nothing is written */
	uint32_t steps;	  /* of time */
	bool cpus, threads;
	bool leaves; /* the innermost functions of pruned stacks */
};

#define FLAME_SHARES 16
struct flame_packed {
	uint64_t nodes, entries;
	uint64_t pruned_stacks;
	double pruned_share;
	uint32_t cpus;
	uint32_t time_steps; /* 0: the stacks have no times */
	uint64_t time_step;  /* ns */
	bool too_many;	     /* nothing was written: more than max_nodes */
	/* A min_share that would leave about so many sixteenths of the nodes; 0 is unused. */
	double leaves_share[FLAME_SHARES];
};

/* Adds to ret. With too_many ret and the other figures are left alone. */
int flame_pack(const struct stacks *s, const struct stacks *after, const struct flame_html_opts *o,
	       const struct flame_detail *d, struct strbuf *ret, struct flame_packed *info,
	       struct err *e);

/* --- between flame_pack.c (what the page gets), flame_entries.c (entries of it) and flame_order.c
 * (in which order) --- */

#define FLAME_NO_STEP UINT32_MAX /* nobody knows when it was */
struct entry {
	uint32_t node, key, step;
	int64_t weight;
};

struct key {
	uint32_t side, type, thread, cpu;
	uint64_t samples;
};

struct thread {
	uint32_t comm; /* in strings, STRTAB_NONE when not known */
	int32_t pid, tid;
};

/* An event in time. */
struct event_clock {
	uint64_t period; /* ns that a sample stands for */
	double rate;	 /* and one of weight */
	bool spans;	 /* the weight is how long it was, up to its time */
};

struct pack {
	const struct stacks *side[2];
	const struct flame_html_opts *o;
	const struct flame_detail *detail;
	struct calltree tree;
	struct strtab strings; /* thread and event names */
	struct entry *entries;
	size_t n_entries;
	VEC(struct key) keys;
	struct map seen; /* who and what of an entry -> key + 1 */
	struct map key_index, thread_index, cpu_index;
	VEC(struct thread) threads;
	VEC(uint32_t) cpus;
	VEC(uint32_t) types, units; /* in strings, by place in the file */
	VEC(struct event_clock) clocks;
	uint64_t first, step, last; /* of times; step 0: none */
	bool ordered;		    /* times are only places in the file */
	bool untimed;		    /* of a recording that does not say when anything was */
	struct strbuf column[6];
};

/* The number of an event, and its name and unit. */
uint32_t flame_type(struct pack *p, const struct stacks *s, uint32_t type);
/*
 * Entries of all sides: those that agree in node, key and step become one. They are in the order of
 * nodes, then of keys and steps.
 */
void flame_gather(struct pack *p);

/*
 * Samples are counted by several threads, so that what was seen first is another thing each
 * time. Pages must not tell: keys, threads, CPUs and events are put into an order that only
 * depends on what they are, and entries follow.
 */
void flame_order_keys(struct pack *p);

struct use {
	uint32_t func;
	uint32_t n;
};
/*
 * Functions that many nodes name get small numbers: the place of each, and in *ret_use what stands
 * there. Both are the caller's to free.
 */
uint32_t *flame_order_functions(const struct calltree *t, struct use **ret_use);
