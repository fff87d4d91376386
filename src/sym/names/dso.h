/* SPDX-License-Identifier: MIT */
/*
 * One object that addresses belong to: opening what it needs, when it is
 * needed, and asking the right tables. For sym.c only; commands use sym.h.
 *
 * Opening is guarded by a lock, and what is opened does not change any more,
 * so several threads may ask one dso at a time.
 */
#pragma once

#include <pthread.h>

#include "sym/find/find.h"
#include "sym/jit/jitdump.h"
#include "sym/jit/perfmap.h"
#include "sym/names/answers.h"
#include "sym/names/kallsyms.h"

#define DSO_FRAMES_MAX 128 /* deeper inlining is cut at its outer end */

enum dso_kind { DSO_KERNEL, DSO_ELF, DSO_PERFMAP, DSO_JITDUMP };

struct dso {
	enum dso_kind kind;
	bool exact;	       /* see symbols_opts */
	struct find_want want; /* path is owned */
	const struct find_opts *find;
	uid_t owner;		 /* of a JIT's files */
	void (*load)(void *ctx); /* fills the kernel's tables when they are first needed */
	void (*load_end)(void *ctx);
	void *load_ctx;

	/* What was tried already; what it gave is below, and does not change any more. */
	pthread_mutex_t lock, answers_lock; /* the second is taken before the first */
	_Atomic bool opened, symbols_tried, dwarf_tried, answers_tried, lines_tried;
	struct err why; /* opening failed for this reason */
	struct find_stats stats;

	struct elf *file, *debug;
	bool symbols; /* one of the next four is filled */
	struct symtab tab;
	struct kallsyms kernel;
	struct perfmap perfmap;
	struct jitdump jitdump;
	_Atomic bool missed; /* an address was not found in them */
	uint64_t slide;	     /* of a vmlinux: runtime address minus that in the file */
	struct dwarf *dwarf; /* NULL: none */
	bool lines;	     /* there is debug info, opened or not */
	struct answers answers;
	_Atomic bool news; /* something was found out that answers does not have */
};

/* Texts are as they stand in the file, and live as long as the dso. */
struct dso_frame {
	const char *name, *file; /* NULL when not known */
	uint32_t line;
};
struct dso_answer {
	const char *name, *module; /* NULL when not known, or none */
	uint64_t addr, start, end, vaddr;
	uint32_t before, after; /* as in answers.h */
	uint32_t nframes;
	struct dso_frame *frames; /* the asker's: room for DSO_FRAMES_MAX */
};

void dso_init(struct dso *d, enum dso_kind kind, const struct find_want *want,
	      const struct find_opts *find);
void dso_free(struct dso *d);

/* what: SYMBOLS_... of sym.h. Fills *a, and its frames. */
void dso_resolve(struct dso *d, uint64_t addr, unsigned what, struct dso_answer *a);

/*
 * Addresses [from, to) around one that all have its names, those of inlined functions included;
 * false: only it does, or nobody knows.
 */
bool dso_span(struct dso *d, enum answers_names names, uint64_t addr, uint64_t *from, uint64_t *to);

/* Make sure that it is open; false when it cannot be (d->why). */
bool dso_open(struct dso *d);
/* Its symbols; NULL when there are none, or when it is no ELF file. */
const struct symtab *dso_symtab(struct dso *d);
/* Its debug info; NULL when there is none. */
struct dwarf *dso_dwarf(struct dso *d);

/* An answer of an earlier run that says at least what is asked; NULL when there is none. */
const struct answers_entry *dso_known(struct dso *d, enum answers_names names, uint64_t addr,
				      unsigned what);
/* What answers are made from: ANSWERS_SYMTAB | ANSWERS_DWARF. */
uint32_t dso_sources(const struct dso *d);
/* By what answers are kept; CACHE_NONE: they are not. It is open, or the kernel's. */
struct cache_key dso_key(const struct dso *d);
/* Read a JIT's file again, which grows, if something was missing. Whether it was. Not while others
 * ask. */
bool dso_refresh(struct dso *d);
