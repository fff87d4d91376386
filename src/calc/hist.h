/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report: a named profile summed by sort keys.
 *
 * With children, a row's total also counts the samples that passed through its
 * function on the way to another one, each sample once a row.
 */
#ifndef KYMO_CALC_HIST_H
#define KYMO_CALC_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "calc/names.h"
#include "calc/profile.h"

enum hist_key {
	HIST_COMM,
	HIST_PID, /* process: "1234:comm" */
	HIST_TID,
	HIST_DSO,
	HIST_SYM,
	HIST_CPU,
	HIST_SRCLINE,
	HIST_SRCFILE,
	HIST_TIME,
	HIST_EXTRA, /* a tracepoint's field or another value; texts come from the owner */
	HIST_KEYS,
};

struct hist_opts {
	enum hist_key key[16];
	unsigned n_keys;
	bool children;
	uint32_t type; /* which of the trace's events */
};

struct hist_row {
	uint64_t value[16]; /* by key: an id, number or site as hist_text() understands it */
	uint32_t frame;	    /* with HIST_SYM: the function; else of some sample in it */
	uint32_t site;
	uint32_t depth;		     /* of the deepest chain behind it */
	uint64_t count, self, total; /* samples; weight here; weight here and below */
	uint64_t chains;	     /* entries with a chain that count for it */
};

struct hist {
	const struct names *names;
	struct hist_opts opts;
	VEC(struct hist_row) rows; /* heaviest first */
	uint64_t total;		   /* weight of all samples of this type */
	uint64_t count;
	struct strtab texts; /* that dso and srcline values are ids of */
	/* inner workings of hist.c */
	uint32_t *dso_text, *site_text; /* by dso, by site */
	uint32_t *slot;
	size_t slot_cap;
};

/* What a key shows for a row, into buf, which is returned; the view adds width. */
const char *hist_text(const struct hist *h, const struct hist_row *r, unsigned key, char *buf,
		      size_t size);

/* The profile must have been made by at least what the keys need: see hist_needs. */
int hist_make(const struct names *n, const struct hist_opts *o, struct hist *ret, struct err *e);
void hist_free(struct hist *h);

/* PROFILE_BY_* that the keys need. */
unsigned hist_needs(const struct hist_opts *o);

/* Calls fn for each row that an entry counts for: its own first (at -1), then those on the way,
 * outermost first, each once. */
struct hist_walk {
	const struct hist *h;
	uint32_t *stamp; /* by row */
	uint32_t now;
};
void hist_walk_init(struct hist_walk *w, const struct hist *h);
void hist_walk_free(struct hist_walk *w);
typedef void hist_walk_fn(void *ctx, uint32_t row, int64_t chain_at);
void hist_walk(struct hist_walk *w, size_t entry, hist_walk_fn *fn, void *ctx);

#endif
