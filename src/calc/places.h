/* SPDX-License-Identifier: MIT */
/*
 * The distinct addresses of samples, and the functions they belong to as small
 * numbers: what call paths can be counted by without keeping any.
 */
#ifndef KYMO_CALC_PLACES_H
#define KYMO_CALC_PLACES_H

#include "calc/profile.h"
#include "calc/stacks.h"
#include "sym/sym.h"

struct place {
	uint64_t addr;
	uint32_t space; /* of task.h */
	uint8_t mode;	/* enum event_mode */
	bool caller;	/* a return address */
};

struct place_set {
	VEC(struct place) v;
	uint32_t *slot; /* index + 1 in v */
	size_t cap;
};

/* False when places_split() says so. */
bool places_add(struct place_set *s, const struct event *ev, const struct profile_entry *who);
/* Everything of other into s; other is freed. */
void places_merge(struct place_set *s, struct place_set *other);
void places_free(struct place_set *s);

static inline uint64_t place_hash(uint64_t addr, uint32_t space, bool caller)
{
	uint64_t x = (addr * 2 + caller + ((uint64_t)space << 40)) * 0x9e3779b97f4a7c15u;

	return x ^ x >> 32;
}

/* A sample's chain in parts of one mode each; innermost first, as the chain is. */
#define PLACE_PARTS 32
struct place_part {
	uint32_t first, end; /* in ip; all but the first are return addresses */
	uint32_t space;
	uint8_t mode;
};
struct place_parts {
	const uint64_t *ip;
	uint32_t n;
	struct place_part part[PLACE_PARTS + 1];
};
/* False when the chain has too many parts. */
bool places_split(const struct event *ev, const struct profile_entry *who, struct place_parts *ret);

/*
 * Functions by place. They are the same when calltree.h says so: module, name and
 * kind agree. Where something was inlined, a place has several, in `list`.
 */
#define PLACE_SEVERAL 0x80000000u
struct place_slot {
	uint64_t addr; /* twice, and one more for a return address */
	uint32_t space;
	uint32_t func; /* or PLACE_SEVERAL and where its count and functions stand in list; + 1 */
};
struct place_names {
	struct place_slot *slot;
	size_t mask;
	uint32_t *list;	 /* a count, then functions, outermost first */
	uint32_t funcs;	 /* how many different ones */
	uint32_t *frame; /* by function: a frame of `named` that is one */
	uint32_t *made;	 /* by function: its frame in the result + 1; 0: none yet */
	struct stacks named;
};

/* What a place is; it must have been among those that were named. */
static inline uint32_t place_func(const struct place_names *n, uint64_t addr, uint32_t space,
				  bool caller)
{
	size_t at = place_hash(addr, space, caller) & n->mask;
	uint64_t key = addr * 2 + caller;

	while (n->slot[at].addr != key || n->slot[at].space != space)
		at = (at + 1) & n->mask;
	return n->slot[at].func - 1;
}

int place_names_make(struct place_names *n, struct trace *t, const struct place_set *places,
		     struct symbols *symbols, bool inlines, bool counts, struct err *e);
void place_names_free(struct place_names *n);

/* A function as a frame of to. */
uint32_t place_names_frame(const struct place_names *n, uint32_t func, struct stacks *to);
/* What events there are, and their units. */
void place_names_types(const struct place_names *n, struct stacks *to);

#endif
