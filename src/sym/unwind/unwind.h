/* SPDX-License-Identifier: MIT */
/*
 * Unwinding a copied stack: registers, some bytes of stack and the tables of what was mapped give
 * the chain of callers.
 *
 * Compact rows do the work. They follow only the stack pointer, the frame pointer and the return
 * address; for a frame that they cannot express the chain is started again with all registers, and
 * evaluated in full from the file's own call frame information.
 */
#pragma once

#include "sym/unwind/ehframe.h"

#define UNWIND_REGS 33 /* DWARF numbers; x86_64: 16 is the ip, aarch64: 31 sp, 32 pc */

struct unwind_regs {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint64_t known;	  /* bit N: r[N] is set */
	uint64_t r[UNWIND_REGS];
};

/*
 * The user's registers as samples carry them (event_extra.regs). -EOPNOTSUPP for 32-bit ones,
 * -ENODATA when there is no stack pointer or ip.
 */
int unwind_regs_from_perf(uint16_t machine, uint64_t abi, uint64_t mask, const uint64_t *regs,
			  struct unwind_regs *ret);
uint64_t unwind_ip(const struct unwind_regs *r);
uint64_t unwind_sp(const struct unwind_regs *r);

/* An executable mapping. */
struct unwind_map {
	uint64_t start, end;		   /* [start, end) */
	uint64_t pgoff;			   /* file offset of start */
	const struct ehframe_table *table; /* NULL: none (JIT code), frame pointers are tried */
	const struct ehframe *cfi;	   /* for full evaluation; NULL: see unwind_cfi_fn */
	uint32_t file;			   /* the caller's number of it */
};

/* The mapping that holds pc; false: none. Called once per change of mapping, not per frame. */
typedef bool unwind_find_fn(void *ctx, uint64_t pc, struct unwind_map *ret);
/* What is needed for full evaluation, when a mapping has not said it (may be NULL): or NULL. */
typedef const struct ehframe *unwind_cfi_fn(void *ctx, const struct unwind_map *m);
/* Memory that is not in the copy (may be NULL). false when it cannot be read. */
typedef bool unwind_read_fn(void *ctx, uint64_t addr, void *buf, size_t n);

struct unwind_input {
	const struct unwind_regs *regs;
	const uint8_t *stack; /* from the stack pointer up */
	size_t stack_size;
	unwind_find_fn *find;
	unwind_cfi_fn *cfi;
	unwind_read_fn *read;
	void *ctx;
	uint64_t ra_mask; /* bits of a return address that are address; 0: the machine's default */
};

struct unwind_result {
	uint32_t n;	     /* frames written */
	enum unwind_end end; /* how it ended */
	unsigned flags;
	uint64_t end_pc; /* the frame that could not be left */
};

/* Which rule an address of a space has: most frames are of few addresses. */
#define UNWIND_KNOWN 16384u
struct unwind_known {
	uint64_t key;
	const struct ehframe_rule *rule; /* NULL: free */
};

/*
 * Mappings seen by earlier calls; one a thread, for any number of stacks of one
 * address space. Forget with unwind_cache_reset() when mappings change.
 */
struct unwind_cache {
	struct unwind_map map[8];
	unsigned n, next;
	uint32_t space;		    /* what the mappings are of */
	struct unwind_known *known; /* UNWIND_KNOWN of them, by address and space; NULL: none */
};
static inline void unwind_cache_reset(struct unwind_cache *c)
{
	c->n = c->next = 0;
}
/* The next stacks are of this space. The rules of others stay known: the tables must stay too. */
static inline void unwind_cache_space(struct unwind_cache *c, uint32_t space)
{
	if (c->space != space)
		unwind_cache_reset(c);
	c->space = space;
}

/* Innermost first: chain[0] is the ip itself, the others are return addresses (or interrupted
 * addresses below a signal frame). Never fails; *ret says what happened. */
void unwind_stack(const struct unwind_input *in, struct unwind_cache *cache, uint64_t *chain,
		  uint32_t max, struct unwind_result *ret);

/* One of several stacks. */
struct unwind_job {
	struct unwind_input in;
	uint64_t *chain; /* room for max */
	uint32_t max;
	struct unwind_result ret;
};
/* All of one space, as unwind_stack() does each; they are read side by side, because what takes
 * the time is waiting for memory. */
void unwind_stacks(struct unwind_job *jobs, size_t n, struct unwind_cache *cache);

/* "reached the bottom", "no table" ... */
const char *unwind_end_text(enum unwind_end end);
/* One word each, for CSV and JSON: "bottom", "depth" ... */
const char *unwind_end_name(enum unwind_end end);
