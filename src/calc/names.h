/* SPDX-License-Identifier: MIT */
/*
 * Names for what a profile found: every distinct (space, address) once.
 *
 * A site is an address in an address space; a frame is the function (or the
 * unnamed address) that sites belong to. Reports sum by frame, so two sites of
 * one function are one row.
 */
#ifndef KYMO_CALC_NAMES_H
#define KYMO_CALC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "calc/profile.h"
#include "sym/sym.h"

struct name_site {
	uint64_t addr; /* the ip */
	uint32_t space;
	uint32_t dso; /* of tasks, TASK_DSO_NONE when nothing is mapped there */
	uint32_t frame;
	uint8_t mode;		      /* enum event_mode */
	bool caller;		      /* a return address */
	uint64_t dso_addr;	      /* the address symbols are asked for */
	const struct sym_result *sym; /* NULL when nobody could be asked */
};

struct name_frame {
	uint32_t name;	 /* of symbols_text(); SYMBOLS_NONE when not known */
	uint32_t module; /* kernel module of symbols_text(), or SYMBOLS_NONE */
	uint32_t dso;
	uint8_t mode;
	uint64_t addr; /* the function's start, or the unnamed address itself */
};

struct names_opts {
	bool lines; /* source lines and inlined functions too */
	bool (*progress)(void *ctx, size_t done, size_t all); /* may be NULL */
	void *ctx;
};

struct names {
	const struct profile *profile;
	struct symbols *symbols;
	VEC(struct name_site) sites;
	VEC(struct name_frame) frames;
	uint32_t *entry_site;  /* by profile entry; NAMES_NO_SITE when it has no code */
	uint32_t *chain_sites; /* all chains' sites, innermost first, markers left out */
	uint64_t *chain_first; /* chain i is chain_sites[chain_first[i] .. chain_first[i + 1]) */
	uint64_t unresolved;   /* weight-free count of samples whose own address has no name */
};
#define NAMES_NO_SITE UINT32_MAX

/* symbols must outlive the result. */
int names_make(const struct profile *p, struct symbols *symbols, const struct names_opts *o,
	       struct names *ret, struct err *e);
void names_free(struct names *n);

/* The number of a file for symbols_resolve() and friends; SYMBOLS_NONE for TASK_DSO_NONE. */
uint32_t names_file(const struct names *n, uint32_t dso, uint8_t mode);
/* How a file is shown: its base name, "[kernel.kallsyms]", "[vdso]", "[unknown]". */
const char *names_dso(const struct names *n, uint32_t dso);
/* The function's name, or NULL for an unnamed address. */
static inline const char *names_function(const struct names *n, uint32_t frame)
{
	const struct name_frame *f = &n->frames.data[frame];

	return f->name == SYMBOLS_NONE ? NULL : symbols_text(n->symbols, f->name);
}

#endif
