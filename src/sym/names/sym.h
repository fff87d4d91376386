/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses: the one door to this folder for commands.
 *
 *	struct symbols *s = symbols_new(&opts);
 *	uint32_t dso = symbols_dso(s, &(struct find_want){ .path = ..., .id = ... });
 *	symbols_resolve_many(s, queries, n, SYMBOLS_NAMES);   // in parallel, a thread a file
 *	const struct sym_result *r = symbols_resolve(s, dso, addr, SYMBOLS_NAMES);
 *	symbols_text(s, r->name);
 *
 * Count first, name later: collect the distinct (dso, address) pairs, resolve
 * them all at once, then ask for each as often as needed; answers are kept, and
 * the pointers hold until symbols_free(). Texts are interned: equal ids, equal
 * names, also across files.
 *
 * An address is what perf calls it: ip - map_start + map_pgoff, an offset in
 * the file, for ELF files; the ip itself for the kernel and for JIT code. For
 * a return address ask for one less, so that the call's line is named.
 *
 * Only symbols_lookup() may be called by several threads at a time.
 */
#pragma once

#include "sym/find/find.h"

#define SYMBOLS_NONE UINT32_MAX /* no such text: an unknown name, no file */
#define SYMBOLS_KERNEL 0u	/* the dso of the running (or recorded) kernel; always there */

/* What to find out. Inlined functions cost more than names, and source lines, which bring the
 * inlined functions along, more than these. */
#define SYMBOLS_NAMES 1u
#define SYMBOLS_LINES 2u
#define SYMBOLS_INLINED 4u

struct symbols_opts {
	struct find_opts find;		  /* symfs and no_debug_files; the rest is found out here */
	const char *cache_dir;		  /* NULL: $XDG_CACHE_HOME/kymo or ~/.cache/kymo */
	bool no_cache;			  /* neither use nor keep anything there */
	bool no_debuginfod;		  /* else asked when $DEBUGINFOD_URLS is set */
	unsigned debuginfod_ms;		  /* for all files together; 0: 10 s */
	debuginfod_progress_fn *progress; /* while servers are asked; may be NULL */
	void *progress_ctx;
	bool raw_names; /* do not demangle */
	bool params;	/* demangle with parameters */
	bool exact; /* addresses are meant as they are: none is one less than a return address */
	unsigned threads; /* 0: as many as there are CPUs */
};

/* One function at an address; several where calls were inlined. */
struct sym_frame {
	uint32_t name; /* text id */
	uint32_t file; /* text id of the source file, SYMBOLS_NONE when not known */
	uint32_t line; /* 0 when not known */
};

struct sym_result {
	uint32_t name;	     /* of the function (the symbol), SYMBOLS_NONE when not known */
	uint32_t module;     /* kernel module or "bpf"; SYMBOLS_NONE for everything else */
	uint64_t start, end; /* of the symbol, in the terms of the address asked for */
	uint64_t vaddr; /* the address in the file's own terms, as objdump shows it; UINT64_MAX:
			   none */
	uint32_t known; /* SYMBOLS_NAMES ...: what was looked for */
	uint32_t before, after; /* [addr - before, addr + after) has the same names; 0: not known */
	/*
	 * Innermost first; the last one is the function itself. None when
	 * nothing is known; one without a file when only the name is.
	 */
	uint32_t nframes;
	const struct sym_frame *frames;
};

struct sym_query {
	uint32_t dso;
	uint64_t addr;
	const struct sym_result *result; /* set by symbols_resolve_many */
};

struct kallsyms;
struct symbols;
struct symbols *symbols_new(
	const struct symbols_opts *o); /* NULL: defaults; strings must outlive it */
/* Keeps new answers in the cache, as symbols_save() does for programs that run on. */
void symbols_free(struct symbols *s);
void symbols_save(struct symbols *s);

/*
 * Declare a file; the same path and build-id give the same number. Nothing is
 * opened before the first address is asked for. "[vdso]" is known, and
 * /tmp/perf-PID.map, as recordings call code that has no file, is a perf map, and
 * jit-PID.dump a jitdump, whose code begins at SYMBOLS_JIT_ADDR().
 */
uint32_t symbols_dso(struct symbols *s, const struct find_want *file);

/*
 * Code a runtime compiled on the fly. A perf map (/tmp/perf-PID.map, or path when not NULL) is
 * asked with ips, a jitdump with distances from its pieces of code, which are numbered as in the
 * file. owner: the user the process had, (uid_t)-1 when not known.
 */
#define SYMBOLS_JIT_ADDR(code) (((uint64_t)(code) + 1) << 32) /* of the start of a piece */
uint32_t symbols_perfmap(struct symbols *s, pid_t pid, const char *path, uid_t owner);
uint32_t symbols_jitdump(struct symbols *s, const char *path, uid_t owner);
/* Read those again in which something was not found, for they grow: answers given so far stay, new
 * questions see the new file. Whether any was. */
bool symbols_refresh(struct symbols *s);

/*
 * Give the kernel its symbols: the text of kallsyms (taken over, also on
 * failure), what was read of it (taken over), or a vmlinux file whose
 * addresses are shifted by slide.
 */
int symbols_kernel_text(struct symbols *s, char *text, size_t len, struct err *e);
void symbols_kernel_list(struct symbols *s, struct kallsyms *list);
int symbols_kernel_file(struct symbols *s, const char *vmlinux, uint64_t slide, struct err *e);
/*
 * Or let load do so when the kernel is first asked about, which may be never and in any
 * thread. At the end ctx is given to end, whether load was called or not.
 */
void symbols_kernel_later(struct symbols *s, void (*load)(void *ctx), void (*end)(void *ctx),
			  void *ctx);
/* What is loaded then is always the same for this id: answers are kept, and spare the next run to
 * load it. What BPF programs and trampolines are called is not among them. */
void symbols_kernel_id(struct symbols *s, const struct build_id *id);
/* Were some kept for it, of names as they are wanted now? */
bool symbols_kernel_kept(const struct symbols *s);

/* Never NULL. */
const struct sym_result *symbols_resolve(struct symbols *s, uint32_t dso, uint64_t addr,
					 unsigned what);
void symbols_resolve_many(struct symbols *s, struct sym_query *q, size_t n, unsigned what);
/*
 * Addresses [from, to) around one that all have its names, those of inlined functions included,
 * but not its line; false: only it has, as far as is known.
 */
bool symbols_span(struct symbols *s, uint32_t dso, uint64_t addr, uint64_t *from, uint64_t *to);
/* What was resolved before, NULL when it was not. */
const struct sym_result *symbols_lookup(const struct symbols *s, uint32_t dso, uint64_t addr);

const char *symbols_text(const struct symbols *s, uint32_t id); /* "" for SYMBOLS_NONE */

/* The id of a text of one's own, for what has a name but no address. */
uint32_t symbols_add_text(struct symbols *s, const char *text);

/* The ELF file behind a dso, for disassembly; NULL when it was not found. Opens it if need be. */
const struct elf *symbols_elf(struct symbols *s, uint32_t dso);

/* The file (a .dwo, or dwz's) that was wanted for an answer so far and is not here; NULL: none. */
const char *symbols_missing(struct symbols *s, uint32_t dso);

/* How much is known by now, for programs that run on: files, and bytes of answers. */
struct symbols_use {
	size_t files, bytes;
};
struct symbols_use symbols_use(const struct symbols *s);
/* Is it so much more than then that new ones, with what is asked for now, would be the better? */
bool symbols_grown(const struct symbols *s, struct symbols_use then);

/* How it went with debuginfod servers; all zero when none is to be asked. */
struct debuginfod_stats symbols_debuginfod(struct symbols *s);

/* How it went with a file, for the notes below a report and for doctor. */
struct symbols_status {
	bool opened;		  /* an ELF file (or the kernel's symbols) was found and fits */
	bool symtab;		  /* it has a full symbol table, itself or in its debug file */
	bool dwarf;		  /* it has debug info */
	bool mismatch;		  /* a file of that name was there, but of another build */
	const char *why;	  /* the reason when not opened; "" else */
	const char *file, *debug; /* where from; NULL when from nowhere */
	const char *missing;	  /* a part of the debug info that is nowhere; NULL: none */
};
struct symbols_status symbols_status(struct symbols *s, uint32_t dso);
