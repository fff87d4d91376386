/* SPDX-License-Identifier: MIT */
/*
 * What samples do not show, counted while they are read: names that nobody knows, and callers that
 * could not be followed.
 *
 * A picture does not keep every sample's address and stack, so what is asked of them is kept here:
 * where each was and the two outermost frames of its stack. It becomes a small profile with
 * names, of which the same questions are asked as of a report's (names_count_cut() and others):
 * there is one calculation, and all commands say the same.
 */
#pragma once

#include "base/map.h"
#include "calc/profile/names.h"
#include "calc/stacks/places.h"

/* The outer end of a stack. */
struct gaps_end {
	uint64_t ip[2]; /* the outermost one last */
	uint32_t n;	/* 0: no stack */
	uint8_t mode;
	bool caller;	/* the first of them is a return address */
	bool cut, deep; /* as in struct profile_chain */
};

struct gaps {
	struct map index; /* of place and end: entry + 1 */
	VEC(struct profile_entry) entries;
	VEC(struct gaps_end) ends; /* by entry */
};

void gaps_add(struct gaps *g, struct place_reader *r, const struct trace *t,
	      const struct place_sample *s);
/* All of other, which is empty then. */
void gaps_join(struct gaps *g, struct gaps *other);
void gaps_free(struct gaps *g);

/* What was counted as a profile with names; names_free() and profile_free() when r is 0. */
int gaps_names(const struct gaps *g, struct trace *t, struct symbols *symbols, struct profile *p,
	       struct names *n, struct err *e);
