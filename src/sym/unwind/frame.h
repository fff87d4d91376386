/* SPDX-License-Identifier: MIT */
/*
 * Between the parts of the unwinder: reading the stack, finding mappings, one
 * frame in full. Private to sym/.
 */
#pragma once

#include "sym/unwind/ehframe_cfi.h"
#include "sym/unwind/unwind.h"

struct unwind_work {
	const struct unwind_input *in;
	struct unwind_cache *cache;
	uint64_t stack_start; /* address of in->stack */
	uint64_t ra_mask;
	bool x86;
	bool truncated; /* a read failed because the copy was too short */
};

bool unwind_read_other(struct unwind_work *w, uint64_t addr, void *buf, size_t n);

/* One word of the stack (or, through the callback, of other memory). */
static inline bool unwind_read(struct unwind_work *w, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - w->stack_start;

	if (w->in->stack_size >= 8 && at <= w->in->stack_size - 8) {
		memcpy(ret, w->in->stack + at, 8);
		return true;
	}
	return unwind_read_other(w, addr, ret, 8);
}

static inline enum unwind_end unwind_read_failed(const struct unwind_work *w)
{
	return w->truncated ? UNWIND_TRUNCATED : UNWIND_BAD_ADDRESS;
}

/* DWARF's number of the program counter in unwind_regs. */
static inline unsigned unwind_pc_reg(bool x86)
{
	return x86 ? EHFRAME_X86_RA : 32;
}
static inline unsigned unwind_sp_reg(bool x86)
{
	return x86 ? EHFRAME_X86_SP : EHFRAME_ARM64_SP;
}
static inline unsigned unwind_fp_reg(bool x86)
{
	return x86 ? EHFRAME_X86_FP : EHFRAME_ARM64_FP;
}

/*
 * A DWARF expression. initial is the CFA where one is pushed first, else NULL.
 * false when it is malformed, too long, or needs what is not known.
 */
bool unwind_expr(struct unwind_work *w, const uint8_t *block, size_t n, const uint64_t *initial,
		 const struct unwind_regs *regs, uint64_t *ret);

/*
 * The caller's registers by the file's own call frame information. vaddr is
 * where to look, which is one less than the pc for return addresses. -ENOENT when
 * no FDE covers it; otherwise 0 with *end UNWIND_NONE to go on, or why not.
 */
int unwind_full_step(struct unwind_work *w, const struct ehframe *cfi, uint64_t vaddr,
		     struct unwind_regs *regs, bool *signal, enum unwind_end *end);
