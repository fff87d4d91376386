/* SPDX-License-Identifier: MIT */
/*
 * Kernel symbols from the text of /proc/kallsyms, now or as it was saved.
 *
 * Types, sizes and aliases are taken as perf takes them. A kernel that hides its addresses
 * (kptr_restrict) gives a text full of zeros: that is told, and nothing is guessed from it. Lines
 * that make no sense are skipped and counted; one of type '-' ends what is before it.
 *
 * The text is read by parts and not kept: a symbol takes 16 bytes and its name.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/symline.h"
#include "sym/elf/symtab.h"

struct kallsyms_entry {
	uint64_t addr;
	uint32_t name;	 /* its place in names */
	uint16_t module; /* number in modules */
	char type;	 /* as in the text */
};

struct kallsyms {
	VEC(struct kallsyms_entry) list; /* by address when it is done; of equals the last counts */
	VEC(char) names;		 /* each ended by a NUL */
	struct strtab modules;		 /* 0 is "": the kernel itself */
	bool no_bpf; /* set before the first part: stop where BPF programs begin */
	bool hidden; /* all addresses were zero */
	uint32_t bad_lines;
	/* while it is read: */
	bool ended;	     /* the rest is not wanted */
	uint64_t seen;	     /* all addresses so far, or-ed */
	struct strbuf begun; /* a line whose end is still to come */
	struct symline line; /* the last */
};

/* What an address belongs to. The texts live as long as k. */
struct kallsyms_sym {
	const char *name;
	const char *module; /* "" for the kernel proper, else "nvme", "bpf" ... without brackets */
	uint64_t start, end;
};

/* By parts, as they come; k is zero before the first. */
void kallsyms_feed(struct kallsyms *k, const char *part, size_t n);
/*
 * No more parts. -EPERM when the addresses are hidden, with the hint that shows them;
 * -ENOENT when there was no symbol. On failure nothing is left in k but hidden.
 */
int kallsyms_end(struct kallsyms *k, struct err *e);

/* All at once. */
int kallsyms_parse(struct kallsyms *k, const char *text, size_t len, struct err *e);
/* From a file: k as for kallsyms_feed(). */
int kallsyms_read(struct kallsyms *k, int fd, const char *path, struct err *e);
/* path: /proc/kallsyms, or a saved copy. */
int kallsyms_load(struct kallsyms *k, const char *path, struct err *e);
void kallsyms_free(struct kallsyms *k);

bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_sym *ret);

/* The same as a table of symbols, for those who look for names: they are k's. */
void kallsyms_symtab(const struct kallsyms *k, struct symtab *ret);
