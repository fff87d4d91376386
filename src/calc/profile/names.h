/* SPDX-License-Identifier: MIT */
/*
 * Names for what a profile found: every distinct (space, address) once.
 *
 * A site is an address in an address space; a frame is the function (or the
 * unnamed address) that sites belong to. Reports sum by frame, so two sites of
 * one function are one row. Functions that were inlined at a site are sites of
 * their own, and stand before it in chains.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "calc/profile/profile.h"
#include "sym/names/sym.h"

#define NAMES_NONE UINT32_MAX

/* A file as it is shown: "libc.so.6", "[kernel.kallsyms]", "[JIT] tid 12". */
struct name_dso {
	const char *name, *path; /* short and long */
	uint32_t symbols;	 /* in src/sym; SYMBOLS_NONE when it has none */
	uint32_t order;		 /* in which files were first mapped */
};

struct name_site {
	uint64_t addr;		      /* the ip */
	uint64_t dso_addr;	      /* the address symbols are asked for */
	const struct task_map *map;   /* NULL when nothing is mapped there */
	const struct sym_result *sym; /* NULL when nobody could be asked */
	uint32_t space;
	uint32_t dso; /* NAMES_NONE when nothing is mapped there */
	uint32_t frame;
	uint32_t inlines; /* first of the sites inlined here, as many as sym has frames less one */
	uint8_t mode;	  /* enum event_mode */
	bool caller;	  /* a return address */
	bool inlined;	  /* a function inlined into the site that has it in its inlines */
	uint16_t depth;	  /* of an inlined one: which of sym->frames */
};

struct name_frame {
	uint32_t name;	 /* of symbols_text(); SYMBOLS_NONE when not known */
	uint32_t module; /* kernel module of symbols_text(), or SYMBOLS_NONE */
	uint32_t dso;
	uint8_t mode;
	bool inlined;
	uint64_t addr; /* the function's start, or the unnamed address itself */
	uint64_t size; /* of the function; 0 when not known */
	uint64_t ip;   /* where one of its sites was */
};

struct names_opts {
	bool lines;	      /* source lines too */
	bool inlines;	      /* functions that were inlined stand in chains; implies lines */
	bool no_lines;	      /* not so: only their names are needed */
	bool hide_unresolved; /* leave frames without a name out of chains */
	/* Code of a file is the same site wherever it was mapped: at the lowest of its addresses */
	bool by_file;
	/* Chains begin with the outermost function this is true for; NULL: leave them. */
	bool (*ignore_callees)(void *ctx, const char *function);
	/* Further addresses of an entry, to be found in more_sites; n_more each. NULL: none. */
	void (*more)(void *ctx, const struct profile_entry *e, uint64_t *addr, uint8_t *mode);
	unsigned n_more;
	void *ctx;
};

struct name_chain {
	uint64_t first;
	uint32_t n;
};

struct names {
	const struct profile *profile;
	struct symbols *symbols;
	VEC(struct name_site) sites;
	VEC(struct name_frame) frames;
	VEC(struct name_dso) dsos;
	uint32_t *entry_site; /* by profile entry */
	uint32_t *more_sites; /* by profile entry, n_more each */
	unsigned n_more;
	uint32_t *chain_sites;	   /* all chains' sites, innermost first, markers left out */
	struct name_chain *chains; /* by profile chain: where it is in chain_sites */
	uint64_t *samples;	   /* by site: how many were there */
	uint64_t unresolved;	   /* samples whose own address has no name */
	struct arena texts;
};

/* Marks in a chain say whose addresses follow; rubbish may look like a mark, and says nothing. */
uint8_t names_mode_behind(uint64_t mark, uint8_t before);
uint64_t names_mark_for(uint8_t mode);

/* Who knows names for code that is mapped from a path. */
enum names_from {
	NAMES_FROM_FILE,    /* the file: in every process the same */
	NAMES_FROM_PROCESS, /* a runtime that compiled it, for one process */
	NAMES_FROM_NOBODY,  /* it is memory without a file */
};
enum names_from names_from(const char *path);
/* The number that a recording's file has in symbols. */
uint32_t names_symbols_of(const struct tasks *tasks, struct symbols *symbols, uint32_t dso);
/* Whose symbols name an address in a mapping, and what it is among those; SYMBOLS_NONE: nobody's.
 */
uint32_t names_symbols_at(const struct tasks *tasks, struct symbols *symbols,
			  const struct task_map *m, uint64_t *addr);

/* symbols must outlive the result. */
int names_make(const struct profile *p, struct symbols *symbols, const struct names_opts *o,
	       struct names *ret, struct err *e);
void names_free(struct names *n);

/* The number of a file for symbols_resolve() and friends; SYMBOLS_NONE when nobody knows it. */
uint32_t names_file(const struct names *n, uint32_t dso, uint8_t mode);
/* The file's short name; "[unknown]" for NAMES_NONE. */
const char *names_dso(const struct names *n, uint32_t dso);
/* And its path. */
const char *names_path(const struct names *n, uint32_t dso);
/* The function's name, or NULL for an unnamed address. */
static inline const char *names_function(const struct names *n, uint32_t frame)
{
	const struct name_frame *f = &n->frames.data[frame];

	return f->name == SYMBOLS_NONE ? NULL : symbols_text(n->symbols, f->name);
}
/* What the recording itself calls a site; NULL: its sites are addresses. */
static inline const struct trace_frame *names_own(const struct names *n, const struct name_site *s)
{
	const struct trace_own *own = n->profile->trace->own;

	return own ? trace_own_frame(own, s->addr) : NULL;
}
/* Source file and line of a site; false when not known. Of a function that others were inlined
 * into: where it calls the outermost of them. */
bool names_line(const struct names *n, const struct name_site *s, const char **file,
		uint32_t *line);
/* The same, but of the place of a sample the line of the instruction itself, whichever function
 * was inlined there. */
bool names_code_line(const struct names *n, const struct name_site *s, const char **file,
		     uint32_t *line);

/* How many samples have a chain, and how many of those are not whole. */
struct names_cut {
	uint64_t chains;
	uint64_t full;	 /* as long as the recorder allowed, or cut here */
	uint64_t abrupt; /* user code that ends in no function threads start with */
	uint64_t in_jit; /* of these, in code that a runtime compiled */
	uint64_t in_file;
	uint32_t file; /* and in the file with the most others: dso; NAMES_NONE */
};
/* Is a chain of a type as long as the recorder was told (cut), or as it goes (deep)? */
void names_depth(const struct trace *t, uint32_t type, const uint64_t *ip, uint32_t n, bool *cut,
		 bool *deep);
struct names_cut names_count_cut(const struct names *n);

/* Samples without a name: in code that a runtime compiled, and in the file with the most of them.
 */
struct names_missing {
	uint64_t in_jit, in_file;
	uint32_t file; /* dso; NAMES_NONE */
};
struct names_missing names_count_missing(const struct names *n);

/* Samples in the file with the most of them whose debug info is not all here. */
struct names_partly {
	uint64_t samples;
	uint32_t file;	  /* dso; NAMES_NONE */
	const char *part; /* what is missing of it */
};
struct names_partly names_count_partly(const struct names *n);
/* All that asks for samples has been asked: names_count_missing(). */
void names_drop_samples(struct names *n);

/* --- between names.c, names_sites.c and names_missing.c --- */

/* All distinct sites into n->sites, entries and chains as lists of them. */
void sites_collect(struct names *n, const struct names_opts *o);
/* Put the sites inlined at a site before it in chains, take unnamed ones out, ... */
void sites_rewrite(struct names *n, const struct names_opts *o);
/* Code that nobody could name. */
static inline bool names_is_unnamed(const struct names *n, const struct name_site *s)
{
	return n->frames.data[s->frame].name == SYMBOLS_NONE;
}
