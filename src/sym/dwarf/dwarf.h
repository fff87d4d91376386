/* SPDX-License-Identifier: MIT */
/*
 * Source lines and inlined functions from DWARF 2 to 5.
 *
 * The map of units is read when a file is opened, everything else when an address of a unit is
 * first asked for: one walk over its entries gives a sorted array of address ranges, and its line
 * program is run once. Then an address costs a few binary searches, and any number of threads may
 * ask.
 *
 * Understood: compressed sections, missing .debug_aranges, dwz files (.gnu_debugaltlink), split
 * DWARF
 * (.dwo files and .dwp packages). The bytes are untrusted: a damaged unit has no answers, or fewer,
 * and never costs more than its size allows.
 */
#pragma once

#include "sym/elf/elf.h"

enum dwarf_part {
	DWARF_ALT, /* name as in .gnu_debugaltlink, with id */
	DWARF_DWP, /* the package beside the file: its path + ".dwp" */
	DWARF_DWO, /* one split unit: name and the folder it was compiled in */
};
struct dwarf_need {
	enum dwarf_part part;
	const char *name, *dir;
	struct build_id id;
};
/* Opens another file that belongs to it. The handle given back is then the dwarf's to free. */
typedef int dwarf_find_fn(void *ctx, const struct dwarf_need *need, struct elf **ret);

struct dwarf_frame {
	const char *name; /* linkage name where there is one, else the plain one; NULL: none */
	const char *file; /* NULL: not known */
	uint32_t line;	  /* 0: not known, or the compiler could not tell */
};

struct dwarf;

/*
 * e must outlive it. find may be NULL: other files are then absent.
 * -ENOENT when there is no debug info. On failure *ret is untouched.
 */
int dwarf_open(const struct elf *e, dwarf_find_fn *find, void *ctx, struct dwarf **ret,
	       struct err *err);
void dwarf_close(struct dwarf *d); /* NULL is fine */

/*
 * The file that has the rest of it (dwz's, or a .dwo) and was not found, or is of another
 * build; NULL when none is missing. Lives as long as d.
 */
const char *dwarf_missing(struct dwarf *d);

/* Was one of these wanted for an answer so far? That may have been better, then. */
bool dwarf_lacks(const struct dwarf *d);

/*
 * The functions at a virtual address of e, innermost first; the last is the one
 * that was not inlined. Where only the line is known there is one frame without
 * a name. Returns how many (at most max, the outermost are left out), 0 when
 * nothing is known. The texts live as long as d. Without lines no line table is read.
 */
unsigned dwarf_lookup(struct dwarf *d, uint64_t vaddr, bool with_lines, struct dwarf_frame *frames,
		      unsigned max);
/* [*lo, *hi), which the address is in, is narrowed to those that have the same names. */
void dwarf_span(struct dwarf *d, uint64_t vaddr, uint64_t *lo, uint64_t *hi);
