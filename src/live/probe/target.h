/* SPDX-License-Identifier: MIT */
/*
 * What a probe is put into: a program or library, the kernel or a module, with its names, lines and
 * types. A program's debug info is its own, in a file, or from debuginfod. The kernel's BTF says
 * what parameters are; with a vmlinux that has debug info, any line will do.
 */
#pragma once

#include "kern/btf_types.h"
#include "live/probe/type.h"
#include "sym/elf/symtab.h"
#include "sym/find/debuginfod.h"
#include "sym/names/kallsyms.h"
#include "sym/unwind/ehframe.h"

struct probe_target_opts {
	const char *exec;    /* a program or library; NULL: the kernel */
	const char *module;  /* of the kernel, by name or file; NULL: the kernel proper */
	const char *vmlinux; /* with debug info; NULL: none */
	const char *symfs;
	const char *source; /* where source files are; NULL: as the debug info says */
	bool no_debuginfod;
	bool no_inlines; /* functions are not looked for where they were inlined */
	debuginfod_progress_fn *progress;
	void *progress_ctx;
};

struct probe_target {
	bool user;
	const char *source, *symfs; /* of the options */
	bool no_inlines;
	char *path;   /* of the program, absolute */
	char *module; /* its name; NULL: none */
	bool foreign; /* the kernel's file is not that of the running kernel */
	struct elf *elf, *debug;
	struct dwarf *dwarf; /* NULL: no debug info */
	struct ehframe *cfi;
	struct symtab syms; /* of elf and debug, or of kallsyms */
	bool has_kallsyms;
	struct kallsyms kallsyms;
	struct btf_types *btf, *module_btf; /* of the kernel; NULL: none */
	struct probe_syntax syntax;
	struct debuginfod *debuginfod;
	struct find_opts *find;
};

int probe_target_open(const struct probe_target_opts *o, struct probe_target *ret, struct err *e);
void probe_target_close(struct probe_target *t);

/* The types to ask first: the module's, then the kernel's. NULL: none. */
static inline const struct btf_types *probe_target_btf(const struct probe_target *t)
{
	return t->module_btf ? t->module_btf : t->btf;
}

/* The next symbol of that name or pattern behind *at, which starts at 0; NULL: there is none. */
const struct symtab_sym *probe_target_symbol(const struct probe_target *t, const char *name,
					     size_t *at);
/* Is name another name of a function (malloc of __libc_malloc)? ret: its begin, under the name
 * that the debug info knows. */
bool probe_target_alias(const struct probe_target *t, const char *name, struct dwarf_point *ret);
/* A global that is only declared where it is used: find it in the symbol table. */
void probe_target_resolve(const struct probe_target *t, struct dwarf_var *v);
/* Code of the kernel that runs when it starts, and is not there any more then. */
bool probe_target_gone(const struct probe_target *t, uint64_t addr);
/* The symbol a place is in, and how far; the table's where it has one, for parts (foo.cold). */
const char *probe_target_near(const struct probe_target *t, uint64_t addr, const char *symbol,
			      uint64_t start, uint64_t *offset);
/* How the kernel is told of an address: "/bin/ls:0x1234", "vfs_read+4", "nvme:nvme_probe+0". */
bool probe_target_place(const struct probe_target *t, uint64_t addr, const char *symbol,
			uint64_t start, struct strbuf *out);

/* For live/probe/kernel.c and live/probe/target.c themselves. */
int probe_target_kernel(const struct probe_target_opts *o, struct probe_target *t, struct err *e);
/* Debug info, symbols and frames of t->elf. */
void probe_target_read(struct probe_target *t, const struct probe_target_opts *o);
/* An address of the kernel's data as "name+offset". */
bool probe_target_data(const struct probe_target *t, uint64_t addr, struct strbuf *out);
