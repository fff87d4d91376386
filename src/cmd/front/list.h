/* SPDX-License-Identifier: MIT */
/* What the files of `kymo list` share. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "kern/env.h"

/* The classes of `kymo list`, which are also the order of its output. */
#define LIST_HW (1u << 0)
#define LIST_SW (1u << 1)
#define LIST_TOOL (1u << 2)
#define LIST_CACHE (1u << 3)
#define LIST_PMU (1u << 4)
#define LIST_PFM (1u << 5)
#define LIST_RAW (1u << 6)
#define LIST_TRACEPOINT (1u << 7)
#define LIST_PROBE (1u << 8)
#define LIST_SDT (1u << 9)
#define LIST_METRIC (1u << 10)
#define LIST_DEFAULT                                                                          \
	(LIST_HW | LIST_SW | LIST_TOOL | LIST_CACHE | LIST_PMU | LIST_RAW | LIST_TRACEPOINT | \
	 LIST_PROBE | LIST_SDT)

struct list_entry {
	const char *name;
	const char *alias;    /* NULL when none */
	const char *where;    /* told behind the name: "@/usr/bin/x(12ab)"; NULL when clear */
	const char *kind;     /* "Hardware event" */
	const char *about;    /* NULL when none */
	bool cryptic;	      /* the name says too little: describe it always */
	const char *encoding; /* what it means in numbers or terms; NULL when none */
	const char *pmu;
	const char *unit;
	double scale;	    /* 0: none */
	bool is_pattern;    /* a form to fill in (rNNN), no event */
	bool missing;	    /* this machine's PMU does not have it */
	const char *format; /* of a tracepoint: its format file; NULL otherwise */
};

enum list_style { LIST_TEXT, LIST_WORDS, LIST_JSON };

struct list {
	struct env env;
	bool core_pmu; /* something here counts cycles */
	unsigned classes;
	char **patterns;
	int n_patterns;
	enum list_style style;
	bool details;				 /* fields, encodings, and descriptions of all */
	bool abouts;				 /* descriptions at all */
	bool marks;				 /* say which are not available here */
	const char *bold, *dim, *yellow, *reset; /* asked once: each asks the terminal */
	size_t shown;
	struct json json;
};

/* list_out.c: show an entry if it matches the patterns. */
void list_show(struct list *l, const struct list_entry *entry);
bool list_matches(const struct list *l, const struct list_entry *entry);
/* A name alone (a tracepoint), before anything is read about it. */
bool list_matches_name(const struct list *l, const char *name);

/* list_kinds.c: show every entry of the classes. Notes what cannot be read. */
void list_kinds(struct list *l);

/* list_sdt.c: the static probes of the programs in the build-id cache. */
void list_sdt(struct list *l);

/* list_parse.c: what a -e text means here. */
int list_parse(struct env *env, const char *text, bool json, struct err *e);
