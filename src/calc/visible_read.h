/* SPDX-License-Identifier: MIT */
/* The passes of visible.c over a recording: samples as paths of functions. Not for others. */
#ifndef KYMO_CALC_VISIBLE_READ_H
#define KYMO_CALC_VISIBLE_READ_H

#include "calc/places.h"
#include "calc/profile_table.h"
#include "calc/trie.h"
#include "calc/visible.h"

#define VISIBLE_NO_LIMIT UINT32_MAX
#define VISIBLE_LABEL 0x40000000u /* no function, but an index in visible.label */

/* An address of the last sample, and where its functions end in the path. */
struct visible_raw {
	uint64_t addr;
	uint32_t space;
	uint8_t mode;
	bool caller;
	uint32_t end;
};

/* A sample that has places without a name; its chain is a copy. */
struct visible_later {
	struct event ev;
	struct profile_entry who;
};

struct visible_worker {
	struct place_reader places;
	struct task_cache tasks;
	struct map labels;  /* what is known of visible.labels */
	uint64_t label_key; /* the last one */
	uint32_t label;
	bool label_known;
	VEC(uint32_t) path; /* of the sample at hand, outermost first */
	bool longer;	    /* and it was cut */
	/* Neighbours have most of their path in common, and it need not be looked up again. */
	VEC(struct visible_raw) raw;
	VEC(uint32_t) node; /* in trie, and hashes, of functions that the path begins with: */
	VEC(uint64_t) hash; /* what a pass puts there is kept as far as the next path is the same */
	VEC(struct visible_later) later;
	struct arena later_chains;
	size_t later_words;
	/* what visible.c counts */
	uint64_t weight;
	struct trie trie;
	float *sketch;
};

struct visible {
	struct source *source;
	const struct visible_opts *o;
	struct visible_worker *workers;
	unsigned threads;
	int (*pass)(struct visible_worker *w, struct visible *v, const struct event *ev,
		    const struct profile_entry *who);
	struct place_names names;
	struct map labels; /* who -> index + 1 in label; with the lock of names */
	VEC(struct profile_entry) label;
	uint32_t type;
	uint32_t max_nodes;
	uint32_t limit;	      /* of what the first counters count: so many frames */
	float *sketch, *deep; /* up to the limit, and beyond it */
	double threshold;
	struct err *e;
};

void visible_begin(struct visible *v, struct symbols *symbols);
void visible_end(struct visible *v);

static inline uint64_t visible_weight(const struct visible *v, const struct event *ev)
{
	return v->o->counts || !ev->weight ? 1 : ev->weight;
}

/* Call pass for every sample of the type; a sample it gets 1 for comes again. */
int visible_run(struct visible *v,
		int (*pass)(struct visible_worker *w, struct visible *v, const struct event *ev,
			    const struct profile_entry *who));
/* The type of the earliest sample, unless one is wanted. */
int visible_choose_type(struct visible *v);

/*
 * At most limit functions of the sample's path, into w->path: 0. 1: it will come again;
 * or -errno.
 */
int visible_path(struct visible_worker *w, struct visible *v, const struct event *ev,
		 const struct profile_entry *who, uint32_t limit);

#endif
