/* SPDX-License-Identifier: MIT */
/* Passes over a recording: samples as paths of functions. For recorded.c's work only. */
#pragma once

#include "calc/profile/gaps.h"
#include "calc/profile/table.h"
#include "calc/stacks/places.h"
#include "calc/stacks/prefix_tree.h"
#include "calc/stacks/recorded.h"

#define VISIBLE_LABEL 0x40000000u /* no function, but an index in visible.who */
#define VISIBLE_ALL_TYPES UINT32_MAX

/* An address of the last sample, and where its functions end in the path. */
struct visible_raw {
	uint64_t addr;
	uint32_t where; /* visible_where() */
	uint32_t end;
};
/* What an address is of: with another space or mode it is another, and as a return address. */
static inline uint32_t visible_where(const struct place_part *p, bool caller)
{
	return p->space << 4 | (uint32_t)p->mode << 1 | caller;
}

struct visible_worker {
	struct place_reader places;
	struct task_cache tasks;
	struct map labels; /* what is known of visible.labels */
	uint32_t label;	   /* the last one, and whose it is; 0: none yet */
	uint32_t label_comm;
	int32_t label_pid, label_tid;
	/* Of the sample at hand: what was not looked at yet, and what was. */
	struct place_parts parts;
	uint32_t part, at;  /* the next address is before at, in the part before part */
	uint32_t n_raw, n;  /* addresses and functions so far, in raw and path */
	bool same;	    /* and they are the last sample's */
	bool unknown;	    /* one has no name yet */
	VEC(uint32_t) path; /* functions, outermost first; raw is what they are made of */
	/* Neighbours have most of their path in common, and it need not be looked up again. */
	VEC(struct visible_raw) raw;
	VEC(struct prefix_tree_at) node; /* of functions that the path begins with, in the tree */
	VEC(struct place_sample) later;	 /* have places without a name; chains are copies */
	struct arena later_chains;
	size_t later_words;
	struct gaps gaps; /* of what was read, when they are asked for */
	/* what visible.c counts */
	uint64_t weight;
	size_t samples;
	uint32_t tail;	   /* functions kept of a path */
	size_t tail_until; /* so many samples */
	unsigned differ;   /* groups whose samples are not expected to have much in common */
	struct prefix_tree tree;
};

struct visible {
	struct source *source;
	const struct recorded_opts *o;
	struct gaps *gaps;	   /* what samples lack; NULL: nobody asks */
	enum calltree_label label; /* of paths, below which shares count */
	bool collapse;		   /* a function called by itself is one */
	struct visible_worker *workers;
	unsigned threads;
	struct place_names names;
	struct map labels;	       /* who -> index + 1 in who; with the lock of names */
	VEC(struct profile_entry) who; /* of labels */
	uint32_t type;
	/* What becomes of a sample, and an address whose functions join a path; NULL: it goes into
	 * the tree, and nothing. */
	int (*count)(struct visible_worker *w, struct visible *v, const struct place_sample *s);
	void (*met)(struct visible *v, struct visible_worker *w, const struct place_part *part,
		    uint64_t addr, bool caller);
	struct prefix_tree_store store[PREFIX_TREE_STORES]; /* of the trees */
	size_t samples; /* that a thread will see, about; 0: nobody knows */
	size_t step;	/* only every so manieth chunk is read */
	uint32_t tail;	/* functions that are kept of a path, at most */
	size_t room;	/* words for all that are kept */
	double threshold;
	struct err *e;
};

/*
 * Stacks cut to what a picture can show. A million samples may have a million different stacks, and
 * a picture shows a few thousand frames of them. So no stack is kept, and none is followed, nor
 * named, further than many go along: see prefix_tree.h. A large recording is read in part first, to
 * find out how far that is, and then as a whole; where the part said too little, once more. Every
 * frame of at least min_share has its true total; memory is that of the picture.
 *
 * -EOPNOTSUPP when the recording has chains that only addresses can show; *ret is empty then.
 */
int visible_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		   struct gaps *gaps, struct stacks *ret, uint32_t *type, struct err *e);
/*
 * All stacks, with entries by type, process, thread, CPU and time, and code without a name as one
 * frame a module. Chains of addresses are each process's own; paths of functions (places.h) are the
 * same for thousands of runs of a program. As visible_stacks(); wakers in chains are not known
 * here.
 */
int paths_stacks(struct source *s, struct symbols *symbols, const struct recorded_opts *o,
		 struct gaps *gaps, struct stacks *ret, uint32_t *first, struct err *e);

void visible_begin(struct visible *v, struct symbols *symbols);
void visible_end(struct visible *v);

/* Count every sample of the type, or of all. */
int visible_run(struct visible *v);
/* The type of the earliest sample, unless one is wanted. */
int visible_choose_type(struct visible *v);

/* Begin with a sample's path; -errno. */
int visible_start(struct visible_worker *w, struct visible *v, const struct place_sample *s);
#define VISIBLE_ALL UINT32_MAX
/* Go on until it has n functions, in w->path; false: it ends before. */
bool visible_need(struct visible_worker *w, struct visible *v, uint32_t n);
/*
 * Something without a name was met: the sample comes again. The next ones are asked for, too: they
 * are likely to be needed then.
 */
#define VISIBLE_AHEAD 12
void visible_later(struct visible_worker *w, const struct place_sample *s);
/* The same, when they were asked for. */
void visible_keep(struct visible_worker *w, const struct place_sample *s);

/* A sample's label, when processes have frames of their own. */
uint32_t visible_label_find(struct visible_worker *w, struct visible *v,
			    const struct place_sample *s);
static inline uint32_t visible_label(struct visible_worker *w, struct visible *v,
				     const struct place_sample *s)
{
	return w->label && w->label_comm == s->comm &&
			       ((w->label_pid == s->b.pid && w->label_tid == s->b.tid) ||
				v->label < CALLTREE_LABEL_PID)
		       ? w->label
		       : visible_label_find(w, v, s);
}

/* visible_count.c: add up to EVENT_BRIEFS samples to the worker's tree. -errno. */
int visible_count_group(struct visible_worker *w, struct visible *v, const struct place_sample *s,
			unsigned n);
