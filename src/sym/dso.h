/* SPDX-License-Identifier: MIT */
/*
 * One object that addresses belong to: opening what it needs, when it is
 * needed, and asking the right tables. For sym.c only; commands use sym.h.
 *
 * Opening is guarded by a lock, and what is opened does not change any more,
 * so several threads may ask one dso at a time.
 */
#ifndef KYMO_SYM_DSO_H
#define KYMO_SYM_DSO_H

#include <pthread.h>
#include <stdatomic.h>

#include "sym/dwarf.h"
#include "sym/find.h"
#include "sym/kallsyms.h"
#include "sym/symtab.h"

#define DSO_FRAMES_MAX 128 /* deeper inlining is cut at its outer end */

enum dso_kind { DSO_KERNEL, DSO_ELF };

struct dso {
	enum dso_kind kind;
	struct find_want want; /* path is owned */
	pthread_mutex_t lock;
	const struct find_opts *find; /* while it is asked */
	bool tried;		      /* opening was tried */
	_Atomic bool tried_lines;
	struct err why; /* and failed, for this reason */
	struct find_stats stats;
	struct elf *file, *debug;
	bool symbols; /* tab is filled */
	struct symtab tab;
	struct dwarf *dwarf; /* NULL: none */
	struct kallsyms kernel;
	uint64_t slide; /* of a vmlinux: runtime address minus that in the file */
};

/* Texts are as they stand in the file, and live as long as the dso. */
struct dso_frame {
	const char *name, *file; /* NULL when not known */
	uint32_t line;
};
struct dso_answer {
	const char *name, *module; /* NULL when not known, or none */
	uint64_t start, end, vaddr;
	unsigned nframes;
	struct dso_frame frames[DSO_FRAMES_MAX];
};

void dso_init(struct dso *d, enum dso_kind kind, const struct find_want *want);
void dso_free(struct dso *d);

/* what: SYMBOLS_... of sym.h. Fills *a completely. */
void dso_resolve(struct dso *d, const struct find_opts *o, uint64_t addr, unsigned what,
		 struct dso_answer *a);

/* Make sure that it is open; false when it cannot be (d->why). */
bool dso_open(struct dso *d, const struct find_opts *o);
/* And its debug info; NULL when there is none. */
struct dwarf *dso_dwarf(struct dso *d, const struct find_opts *o);

#endif
