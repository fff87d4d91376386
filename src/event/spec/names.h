/* SPDX-License-Identifier: MIT */
/*
 * The event names that mean the same on every machine: hardware, software and
 * tool events, and the cache matrix. Used by the parser, by `kymo list` and by
 * completion.
 */
#ifndef KYMO_EVENT_SPEC_NAMES_H
#define KYMO_EVENT_SPEC_NAMES_H

#include "event/spec/spec.h"

struct spec_name {
	const char *name;
	const char *alias; /* NULL when it has one name only */
	enum spec_kind kind;
	uint32_t type;	 /* attr.type */
	uint64_t config; /* of a tool event: enum spec_tool */
	const char *about;
};

/* Sorted by kind, then by name. */
extern const struct spec_name spec_names[];
extern const size_t spec_names_n;

/* NULL when it is no such name or alias. */
const struct spec_name *spec_name_find(const char *s, size_t n);

/*
 * A cache event in any of its spellings (L1-dcache-load-misses, l1d-read-miss,
 * LLC): 1 and *config filled; 0 when the text does not begin with a cache's
 * name; -EINVAL with *at at the part that is wrong.
 */
int spec_cache_parse(const char *s, size_t n, uint64_t *config, size_t *at);

/* The names of the matrix as perf lists them, in its order: fill name[] for index 0, 1, ... */
#define SPEC_CACHE_NAME_MAX 48
#define SPEC_CACHE_TYPE PERF_TYPE_HW_CACHE /* attr.type of them all */
size_t spec_cache_count(void);
uint64_t spec_cache_name(size_t index, char name[static SPEC_CACHE_NAME_MAX]);
/* A sentence about it. */
void spec_cache_about(uint64_t config, char *buf, size_t size);

#endif
