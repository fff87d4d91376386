/* SPDX-License-Identifier: MIT */
/*
 * What the files of the -e parser share. The text is cut into items by its commas, braces and
 * slashes first; so a wrong name in one does not hide another in the next.
 */
#pragma once

#include "base/str.h"
#include "event/env.h"
#include "event/spec/spec.h"

/* A part of the text. Everything that can be wrong is one, so that the caret finds it. */
struct slice {
	const char *s;
	size_t n;
};

struct spec_spot {
	struct slice at;
	int code;
	char msg[256];
	char hint[300];
};

#define SPEC_SPOTS 4
#define SPEC_EVENTS_MAX 100000 /* of one list; "*:*" is about 2,500 */

struct spec_parser {
	struct spec_list *list;
	const struct spec_env *env;
	struct slice text;
	struct spec_spot bad[SPEC_SPOTS];
	unsigned nbad; /* also counts those that did not fit */
	int code;      /* of the last one */
};

/* One event as written: HEAD, HEAD/TERMS/MODS. HEAD may end in ":MODS" when there are no terms. */
struct spec_item {
	struct slice whole, head, terms, mods;
	bool has_terms;
	const char *text; /* whole, as a string: all its events share it */
};

struct spec_term {
	struct slice all, key, value;
	bool has_value, quoted;
	bool is_number;
	uint64_t number;
};
struct spec_terms {
	struct spec_term *t;
	size_t n;
};

/* event/spec/spec.c */
struct slice slice_trim(struct slice s);
bool slice_is(struct slice s, const char *word);
bool slice_u64(struct slice s, uint64_t *ret); /* decimal or 0x... */
bool slice_raw(struct slice s, uint64_t *ret); /* rNNN in hexadecimal */
/* "a:b" into "a" and "b", both trimmed; false and all of it in *a when there is no sep. */
bool slice_cut(struct slice s, char sep, struct slice *a, struct slice *b);
char *slice_dup(struct spec_parser *p, struct slice s);

/* spec.c. A new event at the end of the list with perf's defaults; holds until the next one. */
struct event_spec *spec_add(struct spec_parser *p, enum spec_kind kind, uint32_t type,
			    uint64_t config, const struct spec_item *item);

/*
 * event/spec/kind.c. Find what the item's head is and add its events. When it ends in
 * modifiers, *mods is set to them. 1 when events were added, 2 when these took
 * the terms that are theirs; -errno and p->bad otherwise.
 */
int spec_head(struct spec_parser *p, const struct spec_item *item, const struct spec_terms *terms,
	      struct slice *mods);

/* event/spec/err.c: what is wrong with a part of the text; the return value is -code. */
__attribute__((format(printf, 4, 5))) int spec_bad(struct spec_parser *p, struct slice at, int code,
						   const char *fmt, ...);
/* What helps, said of the last of them; also -code, so that a return can end with it. */
__attribute__((format(printf, 2, 3))) int spec_bad_hint(struct spec_parser *p, const char *fmt,
							...);
/* The hint that names what is nearest, or the text otherwise. */
int spec_bad_near(struct spec_parser *p, const struct str_nearest *near, const char *otherwise);
int spec_bad_cache(struct spec_parser *p, struct slice name, struct slice part);
int spec_bad_unknown(struct spec_parser *p, struct slice name);
int spec_bad_tracepoint(struct spec_parser *p, struct slice subsys, struct slice event);
int spec_bad_probe(struct spec_parser *p, struct slice subsys, struct slice event);
int spec_bad_pmu(struct spec_parser *p, struct slice name);
int spec_error(const struct spec_parser *p, struct err *e);

/* event/spec/mod.c: set modifiers on the events from..list->n; group: they stand after a '}'. */
int spec_modify(struct spec_parser *p, struct slice mods, size_t from, bool group);
bool spec_are_modifiers(struct slice s);

/* event/spec/term.c */
int spec_terms_cut(struct spec_parser *p, struct slice text, struct spec_terms *ret);
/* True for config, name, period and the others that every kind of event may have. */
bool spec_term_known(const struct spec_term *t);
/* Set the known ones on the events from..list->n; others are errors unless skip_unknown. */
int spec_terms_set(struct spec_parser *p, const struct spec_terms *terms, size_t from,
		   bool skip_unknown);
void spec_terms_near(struct str_nearest *near);

#define SPEC_PMUS_MAX 512
struct spec_pmus {
	const struct env_pmu *pmu[SPEC_PMUS_MAX];
	size_t n;
};

/*
 * event/spec/pmu.c. Add one event for each PMU; where one of several lacks the event,
 * the others have it. 2, or -errno.
 */
int spec_pmu_add(struct spec_parser *p, const struct spec_item *item, const struct spec_pmus *set,
		 const struct spec_terms *terms);
bool spec_pmu_has(struct spec_parser *p, const struct env_pmu *pmu, struct slice name,
		  struct env_event *ret);

/* event/spec/pmus.c. 2 when they added events, terms included; 0 when the name is not theirs;
 * -errno. */
int spec_pmu_event(struct spec_parser *p, const struct spec_item *item, struct slice name,
		   const struct spec_terms *terms);
int spec_pmu_alias(struct spec_parser *p, const struct spec_item *item, struct slice name,
		   const struct spec_terms *terms);
/* Hybrid machines: one event a kind of core. 0 when this is no such machine. */
int spec_pmu_hybrid(struct spec_parser *p, const struct spec_item *item, enum spec_kind kind,
		    uint32_t type, uint64_t config);
bool spec_pmu_is_hybrid(const struct env_pmu *pmu);
/* Where an event that was written once became one for each PMU: groups hold one PMU each. */
void spec_pmu_regroup(struct spec_parser *p, size_t from);

/* Where the bits of a term go: "config:0-7", "config1:0-15,32-47". event/spec/pmu.c */
struct spec_bits {
	unsigned word; /* 0: config, 1: config1 ... */
	uint64_t mask;
};
bool spec_bits_parse(const char *format, struct spec_bits *ret);
/* The mask's bits take v's, lowest first. False when v has more than fit. */
bool spec_bits_put(const struct spec_bits *bits, uint64_t v, uint64_t *word);
uint64_t spec_bits_max(const struct spec_bits *bits);

/* mem:ADDR */
int spec_breakpoint(struct spec_parser *p, const struct spec_item *item, struct slice *mods);
