/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's symbols, for a recorder: where its text lies, and the lines of kallsyms that
 * name what was hit. The kernel takes tens of milliseconds to write them, so its own part (not
 * modules' and BPF programs') is kept in the cache while the kernel runs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "sym/elf/elf.h"
#include "sym/names/kallsyms.h"

struct ksyms {
	char *text; /* as in /proc/kallsyms */
	size_t size;
	uint64_t start, stext, end; /* _text, _stext and _etext */
	void *mapped;		    /* what text lies in, when it comes from the cache */
	size_t mapped_size;
};

/* -EPERM when addresses are hidden from this user, -ENOENT when there is no kallsyms. */
int ksyms_open(struct ksyms *k);
void ksyms_close(struct ksyms *k);

/* All of /proc/kallsyms but BPF programs, whose places recordings tell, into k; from the cache
 * while the kernel runs with the same modules. */
int ksyms_list(struct kallsyms *k, struct err *e);

/*
 * Is a copy of kallsyms (which a NUL ends) what this kernel would write? head: how it begins to;
 * each of modules (/proc/modules) must lie where the copy has it; BPF programs do not count.
 */
bool ksyms_same(const char *text, size_t n, const char *head, size_t head_n, const char *modules);

/* perf's copy of it, if it is. -ENOENT, -ESTALE. */
int ksyms_from_perf(const struct build_id *id, char **ret, size_t *n);

/* An id of what ksyms_list() gives: this kernel, since it started, with these modules. */
bool ksyms_state(struct build_id *ret);

/*
 * The lines that name these addresses, in the order of addresses, and where what they name ends
 * ("ffffffff81000000 - -") unless the next one begins there. addr gets sorted. Addresses that
 * are not the kernel's own have /proc/kallsyms read.
 */
void ksyms_lines(const struct ksyms *k, uint64_t *addr, size_t n, struct strbuf *ret);

/* [start, end) of each function of the kernel's own whose name is wanted. */
typedef bool ksyms_want_fn(void *ctx, const char *name);
typedef void ksyms_fn(void *ctx, const char *name, uint64_t start, uint64_t end);
void ksyms_each(const struct ksyms *k, ksyms_want_fn *want, ksyms_fn *fn, void *ctx);

/* The running kernel's build-id, from /sys/kernel/notes. */
bool ksyms_build_id(struct build_id *ret);
/* A module's, by its name; false when it is not loaded or has none. */
bool ksyms_module_build_id(const char *module, struct build_id *ret);
