/* SPDX-License-Identifier: MIT */
/*
 * Kernel symbols from the text of /proc/kallsyms, now or as it was saved.
 *
 * Types, sizes and aliases are taken as perf takes them. Modules and BPF
 * programs come with the name in brackets behind theirs. A kernel that hides
 * its addresses (kptr_restrict) gives a text full of zeros: that is told, and
 * nothing is guessed from it. Lines that make no sense are skipped and counted.
 */
#ifndef KYMO_SYM_KALLSYMS_H
#define KYMO_SYM_KALLSYMS_H

#include "base/err.h"
#include "base/map.h"
#include "sym/symtab.h"

struct kallsyms {
	struct symtab tab;     /* names, and .module as a number in modules */
	struct strtab modules; /* 0 is "": the kernel itself */
	char *text;	       /* owned; names point into it */
	bool hidden;	       /* all addresses were zero */
	uint32_t bad_lines;
};

/*
 * Takes over text, len bytes from malloc with one more that may be written,
 * as file_read() gives them, also on failure. -EPERM when the addresses are
 * hidden, with the hint that shows them; -ENOENT when there was no symbol.
 */
int kallsyms_parse(struct kallsyms *k, char *text, size_t len, struct err *e);
/* path: /proc/kallsyms, or a saved copy. */
int kallsyms_load(struct kallsyms *k, const char *path, struct err *e);
void kallsyms_free(struct kallsyms *k);

/* *module is "" for the kernel proper, else "nvme", "bpf" ... without brackets. */
const struct symtab_sym *kallsyms_find(const struct kallsyms *k, uint64_t addr,
				       const char **module);

#endif
