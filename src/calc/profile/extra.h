/* SPDX-License-Identifier: MIT */
/*
 * What a report wants of samples beyond task, place and code: weights, control
 * groups, branches, memory accesses, fields of tracepoints.
 *
 * Before counting, a plan says which of them the columns need; it writes them
 * to the profile's extras. After counting, the few distinct ones are given values
 * that rows can be told apart by, and texts.
 */
#pragma once

#include "base/map.h"
#include "calc/profile/profile.h"
#include "calc/rows/key.h"

struct extra_namespace;

struct extra_plan {
	const struct columns *columns;
	const struct trace *trace;
	bool any;	    /* something is wanted at all */
	bool trace_text;    /* the whole record */
	uint8_t word[KEYS]; /* where a key's value stands; 0: nowhere */
	unsigned n_words;
	unsigned *fields_from; /* by type: bytes of a record that only the tracer needs */
	/* For KEY_CGROUP_ID: the number of a thread's cgroup namespace; NULL: not known. */
	void (*namespace)(void *ctx, int32_t tid, uint64_t time, uint64_t *dev, uint64_t *ino);
	void *ctx;
};

void extra_plan(struct extra_plan *p, const struct columns *c, const struct trace *t);
void extra_plan_free(struct extra_plan *p);
/* For profile_opts.extra. Returns the bytes written. */
size_t extra_fill(const struct extra_plan *p, const struct event *ev,
		  const struct event_branch *branch, uint64_t *buf);
/* A key's word; 0 when it has none. */
static inline uint64_t extra_word(const struct extra_plan *p, const struct profile_extra *x,
				  enum key key)
{
	return p->word[key] ? x->data[p->word[key]] : 0;
}

/* Values of one column: a rank for each distinct one, in the order rows are compared. */
struct extra_values {
	uint32_t *by_extra; /* rank of each of the profile's extras */
	const char **text;  /* by rank */
	uint32_t n;
	uint32_t widest; /* text */
};
struct extras {
	struct extra_values column[KEY_COLUMNS]; /* n is 0 where a column has none */
	struct arena arena;
};
void extras_make(struct extras *x, const struct extra_plan *plan, const struct profile *p);
void extras_free(struct extras *x);
