/* SPDX-License-Identifier: MIT */
/* Inside calc/pairs*.c: where the keys of a type's events are. */
#ifndef KYMO_CALC_TIME_PAIRS_KEY_H
#define KYMO_CALC_TIME_PAIRS_KEY_H

#include "base/map.h"
#include "calc/time/pairs.h"

enum pairs_source {
	PAIRS_FIELD,
	PAIRS_TID,
	PAIRS_PID,
	PAIRS_CPU,
	PAIRS_COMM,
};

/* What a type is for one side of the pairs. */
struct pairs_side {
	bool used;
	struct {
		enum pairs_source from;
		const struct field *field;
	} key[PAIR_KEYS];
};

/*
 * Find the event `name` of t and its keys, and set side[type]. Of several that
 * may begin (or end) a pair not all need be there; `last`: one must be by now.
 */
int pairs_key_find(const struct trace *t, const struct pair_spec *s, const char *name, bool end,
		   bool last, struct pairs_side *side, struct err *e);

/* The keys' values, strings as ids of tab; false when the record is too short for them. */
bool pairs_key_of(const struct pairs_side *side, const struct trace *t, struct strtab *tab,
		  unsigned n, const struct event *ev, uint64_t *key);

#endif
