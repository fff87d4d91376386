/* SPDX-License-Identifier: MIT */
/* Between sym.c, sym_answer.c, sym_batch.c and sym_save.c. Not for others. */
#pragma once

#include "sym/names/dso.h"
#include "sym/names/sym.h"

/* What one thread knows: memory for its answers, and names it has demangled already. */
struct symbols;
struct worker {
	struct symbols *s;
	unsigned what;
	struct arena arena;
	struct map readable; /* address of a raw name to 1 + the place of its readable form */
	VEC(const char *) texts;
	struct dso_frame frames[DSO_FRAMES_MAX]; /* of the last answer */
};

/* The same few texts come again and again, from the same places. */
#define RECENT 1024u
struct recent {
	const char *text;
	uint32_t id;
};

struct symbols {
	struct symbols_opts opts;
	struct find_opts find;
	struct arena arena; /* results */
	struct strtab texts;
	VEC(struct dso *) dsos;
	VEC(struct sym_result *) results;
	VEC(struct map) known;	      /* by dso: address to 1 + place in results */
	struct strtab dso_names;      /* kind, pid, path and build-id to dso - 1 */
	struct worker one;	      /* for single questions */
	struct recent recent[RECENT]; /* texts as they came, by their address */
};

enum answers_names symbols_way_of_names(const struct symbols *s);

/* sym_answer.c */
void symbols_worker_free(struct worker *w);
/* Texts that were interned are gone, and others may stand in their places. */
void symbols_forget_recent(struct symbols *s);
unsigned symbols_all_of(unsigned what); /* and what comes with it */
/* The frames hold until the worker's next question. */
void symbols_resolve_raw(struct worker *w, uint32_t dso, uint64_t addr, struct dso_answer *r);
/* An answer that is there already (names, and now lines too) is written over in its place. */
const struct sym_result *symbols_keep(struct symbols *s, uint32_t dso, const struct dso_answer *r,
				      unsigned what);
