/* SPDX-License-Identifier: MIT */
/*
 * The symbols of one object, sorted by address: from .symtab and .dynsym, from the xz-packed table
 * of .gnu_debugdata, from Go's own tables, and from the PLT, whose entries get the name of what
 * they jump to ("malloc@plt"). What counts as a symbol, how far one without a size reaches, and
 * which of several names at one address is shown follow perf, so that reports agree with it.
 *
 * Names are as they stand in the ELF files, mangled, and point into them: these must outlive the
 * table. It does not change after it was loaded; threads may share it.
 */
#pragma once

#include <stdatomic.h>

#include "base/mem.h"
#include "sym/elf/elf.h"

#define SYMTAB_PAGE 4096u

struct symtab_sym {
	uint64_t start, end; /* virtual addresses; end is the first one behind it */
	const char *name;
	/*
	 * 1 + the index of the symbol that reaches over this one; 0: none. Of the second of several
	 * at one address, symtab_find's: 1 + the index of the best of them; 0: nobody asked.
	 */
	_Atomic uint32_t outer;
	uint16_t module; /* kallsyms.h uses it; else 0 */
	uint8_t bind;	 /* STB_... */
	uint8_t type;	 /* STT_... */
};

/* The end of the page that an address is in; itself where one begins. */
static inline uint64_t symtab_page_up(uint64_t a)
{
	return (a + SYMTAB_PAGE - 1) & ~(uint64_t)(SYMTAB_PAGE - 1);
}

struct symtab {
	struct symtab_sym *sym;
	size_t n, cap;
	struct arena names; /* of PLT entries */
	uint8_t *unpacked;  /* .gnu_debugdata */
	struct elf *mini;   /* and what is in it */
	bool has_symtab;    /* a full table was found (or a mini one), not only the dynamic one */
};

/*
 * Load what file has, or debug where that one (a separate debug file of the
 * same build) has the full table; debug may be NULL. The PLT is always file's.
 * -ENOENT when there is no symbol at all.
 */
int symtab_load(struct symtab *t, const struct elf *file, const struct elf *debug, struct err *e);
void symtab_free(struct symtab *t);

/* The symbol that covers an address, by perf's rules for aliases; NULL when none does. */
const struct symtab_sym *symtab_find(const struct symtab *t, uint64_t vaddr);

/* The same, and around it addresses [from, to) of which all have this answer. */
const struct symtab_sym *symtab_span(const struct symtab *t, uint64_t vaddr, uint64_t *from,
				     uint64_t *to);

/*
 * Building a table by hand: add in any order, then say it is done. Symbols
 * without a size then reach to the next one, or to the end of the page
 * where the module changes (perf's rule for kallsyms).
 */
void symtab_add(struct symtab *t, struct symtab_sym s);
void symtab_finish(struct symtab *t);

/* Go's functions, from what its runtime goes by; true when there are any. Called by symtab_load. */
bool symtab_add_go(struct symtab *t, const struct elf *file);

/* PLT entries as symbols; needs relocations and section headers. Called by symtab_load. */
void symtab_add_plt(struct symtab *t, const struct elf *file);
