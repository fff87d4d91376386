/* SPDX-License-Identifier: MIT */
/*
 * Chains of samples that carry a copy of the user stack (record --call-graph
 * dwarf): the callers are found here, after the fact.
 *
 * Unwinding tables are made from the files when they are first needed, and kept.
 */
#ifndef KYMO_CALC_STACKWALK_H
#define KYMO_CALC_STACKWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "event/trace.h"
#include "sym/sym.h"

struct stackwalk;

/* Both must outlive it. Not for several threads at a time. */
struct stackwalk *stackwalk_new(const struct trace *t, struct symbols *symbols);
void stackwalk_free(struct stackwalk *w); /* NULL is fine */

/* Does the event have what it takes? */
bool stackwalk_can(const struct event *ev);

/*
 * The event's chain with the callers that its copy of the stack gives, innermost
 * first, with markers. Callers stand at the call, one below their return address, as
 * perf has them. Holds until the next call. At most max user frames.
 */
void stackwalk_chain(struct stackwalk *w, const struct event *ev, uint32_t max,
		     const uint64_t **chain, uint32_t *n);

/* Walks that did not reach the bottom of the stack, and all. */
void stackwalk_counts(const struct stackwalk *w, uint64_t *cut, uint64_t *all);

#endif
