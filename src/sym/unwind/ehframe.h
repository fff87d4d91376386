/* SPDX-License-Identifier: MIT */
/*
 * Unwinding tables from ELF files: .eh_frame (or .debug_frame) to compact rows.
 *
 * The file is untrusted: every size is checked, work is bounded by the size of
 * the sections, and what makes no sense becomes "no rule here", never a guess.
 * Sections are read, not mapped, so a file that shrinks meanwhile is an error
 * and not a SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sym/unwind/ehframe_rule.h"

struct cache_key;

/*
 * A table is read-only once it is built and may be used by any number of
 * threads. Offsets are file offsets (see ehframe_rule.h).
 */
struct ehframe_table {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint64_t base;	  /* of chunk 0; a multiple of EHFRAME_CHUNK */
	uint32_t n_chunks, n_rows, n_rules;
	const uint32_t *index; /* n_chunks + 1 */
	const uint32_t *rows;
	const struct ehframe_rule *rules;
	uint32_t n_fdes;
	uint32_t n_bad;	 /* FDEs left out because they make no sense */
	uint32_t n_full; /* rows only the full evaluator understands */
	void *owned;
	size_t owned_size;
	bool mapped; /* owned is a mapping of a cache file */
};

/* The rule for an offset. Never NULL: offsets outside get EHFRAME_CFA_NONE. */
static inline const struct ehframe_rule *ehframe_lookup(const struct ehframe_table *t, uint64_t off)
{
	uint64_t rel = off - t->base, c = rel >> EHFRAME_CHUNK_SHIFT;
	uint32_t lo, hi, key;

	if (off < t->base || c >= t->n_chunks)
		return &t->rules[EHFRAME_RULE_NONE];
	lo = t->index[c];
	hi = t->index[c + 1];
	key = EHFRAME_ROW(off, 0xffff);
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->rows[mid] <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Row 0 stands at or before the first offset of chunk 0, so lo is at least 1. */
	return &t->rules[EHFRAME_ROW_RULE(t->rows[lo - 1])];
}

/* The row in force at an offset, and where the next one starts; for tests and dumps. */
size_t ehframe_row_at(const struct ehframe_table *t, uint64_t off, uint64_t *start, uint64_t *end);

void ehframe_table_free(struct ehframe_table *t); /* NULL is fine */
/* It will not be looked at for a while: what is in a file is read from there again. */
void ehframe_table_rest(struct ehframe_table *t);

/* An ELF image's call frame information, opened for building a table or for full evaluation. */
struct ehframe;

/* The descriptor is only read from during the call. On failure *ret is untouched. */
int ehframe_open_fd(int fd, struct ehframe **ret, struct err *e);
int ehframe_open(const char *path, struct ehframe **ret, struct err *e);

#define EHFRAME_LOADED 1u /* laid out by address, as the loader does, not as in the file */
/* An image in memory (the vDSO), which must outlive *ret. */
int ehframe_open_mem(const void *data, size_t size, unsigned flags, struct ehframe **ret,
		     struct err *e);
void ehframe_close(struct ehframe *f); /* NULL is fine */

uint16_t ehframe_machine(const struct ehframe *f);
/* false: there is neither .eh_frame nor .debug_frame, nor a table of Go; a table then holds only
 * what the code itself shows (signal trampolines, PLT). */
bool ehframe_has_cfi(const struct ehframe *f);

/* The virtual address of a file offset in an executable segment, and back. */
bool ehframe_vaddr(const struct ehframe *f, uint64_t off, uint64_t *vaddr);
bool ehframe_offset(const struct ehframe *f, uint64_t vaddr, uint64_t *off);

/* The function around an address, as far as its entry tells: what is left of a stripped file's
 * functions. False when no entry has the address. */
bool ehframe_function(const struct ehframe *f, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The canonical frame address at one address: a register (DWARF's number) and an offset. Only that
 * function's entry is read. False when it is not known, or computed in another way. */
bool ehframe_cfa(const struct ehframe *f, uint64_t vaddr, unsigned *reg, int64_t *off);

/* -ENODATA when there is nothing to make a table of, -EFBIG beyond the limits. */
int ehframe_build(const struct ehframe *f, struct ehframe_table **ret, struct err *e);

/*
 * Tables kept by file (sym/find/cache_key.h) in a folder of sym/find/cache.h. Loading checks the
 * whole file; -ENOENT when there is none, -EPERM and -EBADMSG for one that cannot be trusted or is
 * not what it should be (the caller builds anew).
 */
int ehframe_cache_load(int cache, const struct cache_key *key, uint16_t machine,
		       struct ehframe_table **ret, struct err *e);
int ehframe_cache_save(int cache, const struct cache_key *key, const struct ehframe_table *t,
		       struct err *e);
/* What such a file holds; t points into data, and is not to be freed. -EBADMSG. */
int ehframe_cache_parse(const void *data, size_t size, uint16_t machine, struct ehframe_table *t);
/* Such a file's bytes get the marks by which it is known. */
void ehframe_cache_seal(void *data, size_t size);
/* The table of f: kept (*kept), or built and kept from now on. cache may be -1. */
int ehframe_cached(const struct ehframe *f, int cache, const struct cache_key *key,
		   struct ehframe_table **ret, bool *kept, struct err *e);
