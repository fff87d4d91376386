/* SPDX-License-Identifier: MIT */
/* A named profile as weighted stacks, for pictures and exports. */
#pragma once

#include "calc/profile/names.h"
#include "calc/stacks/stacks.h"

/*
 * Fill *ret (empty before) from n. Weights are what the samples stand for, as in
 * reports (cycles, ns on or off CPU), or with counts the samples themselves.
 * Entries are as fine as the profile was asked to be. merge_unknown: addresses that have
 * no name are not told apart, but for their module, as pictures do not show them.
 */
void profile_stacks(const struct names *n, bool counts, bool merge_unknown, struct stacks *ret);

/* What events there are, and the units of their weights. */
void profile_types(const struct trace *t, bool counts, struct stacks *ret);

/* What a type's weights count: its own unit, time for clocks, else the event by its name. */
uint32_t profile_unit(struct strtab *to, const struct event_type *t, bool counts);

/* A site as a frame: kind, and texts or NULL. */
struct profile_frame {
	const char *name, *module;
	enum frame_kind kind;
};
struct profile_frame profile_frame(const struct names *n, uint32_t site);

/* The event of the earliest sample; of waiting (a wait began before the first sample was due) only
 * where there is no other. */
struct first_type {
	uint64_t time;
	uint32_t type;
	bool any, waits;
};
void first_type_see(struct first_type *f, const struct trace *t, uint32_t type, uint64_t time);
uint32_t profile_first_type(const struct profile *p);
