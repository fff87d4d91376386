/* SPDX-License-Identifier: MIT */
/*
 * A recording counted before anything is named.
 *
 * All samples are read once, in parallel. Those that agree in everything that
 * was asked for become one entry; their call chains are interned as raw
 * addresses together with the address space. What is left is small, and only it
 * is given names (calc/profile/names.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "event/trace.h"

/* What tells entries apart, besides the event's type and the code. */
#define PROFILE_BY_COMM (1u << 0)
#define PROFILE_BY_PID (1u << 1)
#define PROFILE_BY_TID (1u << 2)
#define PROFILE_BY_CPU (1u << 3)
#define PROFILE_BY_TIME (1u << 4)  /* in steps of time_quantum */
#define PROFILE_BY_CODE (1u << 5)  /* where it was: ip, mode and space */
#define PROFILE_BY_CHAIN (1u << 6) /* how it got there; implies CODE */

/* What a sample is to count for. */
enum profile_want {
	PROFILE_SKIP,  /* nothing: as if it were not there */
	PROFILE_ASIDE, /* only the total that shares are of */
	PROFILE_COUNT,
};

/* What entries are made of. */
enum profile_unit {
	PROFILE_SAMPLES,
	PROFILE_ACCESSES, /* samples that count for what the memory access cost */
	PROFILE_BRANCHES, /* one for each branch of a sample's branch records */
};

#define PROFILE_EXTRA_WORDS 8192 /* room for what profile_opts.extra writes: a whole record */

struct profile_opts {
	unsigned by;
	enum profile_unit unit;
	unsigned max_stack;    /* frames that are kept; 0: all */
	bool outermost;	       /* those at the outer end rather than the inner one */
	uint64_t time_quantum; /* ns; 0: every time by itself */
	bool known_times;      /* 0 for what nobody knows the time of, though it has one (type.h) */
	/* Without chains: nobody asks where a process had its code, and a file's is the same
	 * entry wherever it was mapped. */
	bool by_file;
	unsigned threads; /* 0: as many as there are CPUs */
	/* NULL: all count. Called by several threads. */
	enum profile_want (*want)(void *ctx, const struct event *ev);
	/*
	 * Further values that tell entries apart, into buf; returns how many bytes.
	 * NULL: none. branch is NULL unless unit is PROFILE_BRANCHES. Called by several threads.
	 */
	size_t (*extra)(void *ctx, const struct event *ev, const struct event_branch *branch,
			uint64_t *buf);
	/* Called now and then, by several threads. NULL: never. */
	void (*progress)(void *ctx, size_t done, size_t all);
	void *ctx;
};

#define PROFILE_NO_CHAIN UINT32_MAX
#define PROFILE_NO_EXTRA UINT32_MAX

struct profile_entry {
	uint32_t type;
	uint32_t comm;	  /* for tasks_who_name(); STRTAB_NONE when not asked for */
	int32_t pid, tid; /* 0 when not asked for */
	uint32_t cpu;
	uint32_t space;	 /* that user addresses are in */
	uint32_t chain;	 /* index into chains, or PROFILE_NO_CHAIN */
	uint32_t mode;	 /* enum event_mode */
	uint32_t kernel; /* the space that kernel addresses are in */
	uint32_t extra;	 /* index into extras, or PROFILE_NO_EXTRA */
	uint64_t ip, time;
	/* sums, and the first sample's time and thread */
	uint64_t count, weight;
	uint64_t first;
	int32_t first_tid;
	uint32_t next; /* inner workings: 1 + the next entry of its chain */
};

/* Innermost first, with the kernel's markers (event.h). */
struct profile_chain {
	const uint64_t *ip;
	uint32_t n;
	uint32_t space, kernel; /* of user and of kernel addresses */
	bool cut;		/* max_stack left frames out */
	bool deep;	/* it was as deep as the recorder goes, though this is a part of it */
	bool headless;	/* at the inner end: it begins with a return address */
	uint32_t entry; /* inner workings: 1 + the first of its entries */
	uint64_t hash;
};

/* What profile_opts.extra wrote, and the record of the first sample that had it. */
struct profile_extra {
	const uint64_t *data;
	uint32_t size; /* bytes */
	uint32_t raw_size;
	const void *raw;
	uint64_t hash, first;
};

struct profile_total {
	uint64_t count, weight;		/* of what was wanted */
	uint64_t all_count, all_weight; /* and of what was set aside */
};

struct profile {
	struct trace *trace;
	VEC(struct profile_entry) entries;
	VEC(struct profile_chain) chains;
	VEC(struct profile_extra) extras;
	struct profile_total *total; /* by type */
	struct arena copies;	     /* what the source would not keep for us */
};

int profile_make(struct source *s, const struct profile_opts *o, struct profile *ret,
		 struct err *e);
/* Chains have become sites by now (calc/profile/names.h), and nobody asks for their addresses; how
 * many there are is kept. */
void profile_drop_chains(struct profile *p);
void profile_free(struct profile *p);
/* All of it, as a live view needs what goes on being counted; ret is empty before. */
void profile_copy(const struct profile *from, struct trace *trace, struct profile *ret);

/*
 * The same bit by bit, for live views: events are added as they come, and what
 * was counted can be looked at and made to fade.
 */
struct profile_builder;
struct profile_builder *profile_builder_new(struct trace *t, const struct profile_opts *o);
int profile_builder_add(void *b, const struct event *ev); /* an event_fn */
/* What is there now; holds until the builder is used again, and is not to be freed. */
struct profile *profile_builder_look(struct profile_builder *b);
/*
 * Keep this share of every count (0: start anew). What is below one sample, or below a share of all
 * that PROFILE_FADED_MAX of them are the whole of, is forgotten or counted as so much, by chance:
 * on average sums stay what they are, and memory is bounded however many stacks there are.
 */
#define PROFILE_FADED_MAX 32768
void profile_builder_fade(struct profile_builder *b, double keep);
/* Tasks are made anew without what nobody asks for: what is asked for here, and its new numbers. */
void profile_builder_wants(const struct profile_builder *b, struct tasks_wanted *w);
void profile_builder_move(struct profile_builder *b, const struct tasks_moved *m);
void profile_builder_free(struct profile_builder *b);

/* A part of all, in percent. */
static inline double profile_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}
