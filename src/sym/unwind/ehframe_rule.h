/* SPDX-License-Identifier: MIT */
/*
 * How one address's caller is found: the rule and row that user space and the
 * BPF walker share. Included by both, so only fixed-size integers.
 *
 * A table lives in file-offset space: the offset of pc is
 * pc - mapping.start + mapping.pgoff, which needs no look at the ELF file.
 *
 *   index[c]   the first row of chunk c (EHFRAME_CHUNK bytes of text each)
 *   row        offset's low 16 bits << 16 | rule; holds until the next row
 *   rule       12 bytes, deduplicated
 *
 * A row's chunk is known from the index, so 16 bits of offset are enough.
 */
#pragma once

/* Half of such chunks have one rule only, which the kernel's index says (WALK_INDEX_RULE). */
#define EHFRAME_CHUNK_SHIFT 8
#define EHFRAME_CHUNK (1u << EHFRAME_CHUNK_SHIFT)
#define EHFRAME_CHUNK_ROWS_MAX EHFRAME_CHUNK /* a row is at least one byte of text */

/* Where the canonical frame address (the caller's stack pointer) is. */
enum ehframe_cfa {
	EHFRAME_CFA_NONE,     /* nothing is known here */
	EHFRAME_CFA_FULL,     /* more than a rule can say: ask the full evaluator */
	EHFRAME_CFA_BOTTOM,   /* the stack ends here: the return address is undefined */
	EHFRAME_CFA_SP,	      /* sp + cfa_off */
	EHFRAME_CFA_FP,	      /* fp + cfa_off */
	EHFRAME_CFA_REG,      /* register `extra` + cfa_off: only where all registers are known */
	EHFRAME_CFA_PLT,      /* sp + cfa_off, 8 more when (pc & 15) >= extra */
	EHFRAME_CFA_DEREF_SP, /* *(sp + cfa_off) + 8 * extra */
	EHFRAME_CFA_DEREF_FP, /* *(fp + cfa_off) + 8 * extra */
};

/* Where the caller's frame pointer is. Offsets are in units of 8. */
enum ehframe_fp {
	EHFRAME_FP_SAME, /* not touched */
	EHFRAME_FP_CFA,	 /* *(cfa + 8 * fp_off) */
	EHFRAME_FP_SP,	 /* *(sp + 8 * fp_off) */
	/*
	 * *(fp + 8 * fp_off), but untouched when fp is not in [sp, cfa): in the epilogue of a
	 * realigned frame compilers keep this rule past the pop that restored it.
	 */
	EHFRAME_FP_FP,
	EHFRAME_FP_UNDEF, /* lost */
};

/* Where the return address is. */
enum ehframe_ra {
	EHFRAME_RA_CFA, /* *(cfa + 8 * ra_off) */
	EHFRAME_RA_SP,	/* *(sp + 8 * ra_off) */
	EHFRAME_RA_REG, /* register ra_off (aarch64: usually the link register) */
	/*
	 * *(cfa - 8), and the caller's rbx is *(cfa + 8 * ra_off), or untouched when that is 0.
	 * Only in files that base a CFA on rbx: the dynamic linker, while it resolves a symbol.
	 */
	EHFRAME_RA_BX,
};
/*
 * Or-ed to ra: a signal interrupted the caller, so its address is not a return
 * address (look up pc, not pc - 1), and on aarch64 its link register lies 16
 * bytes below its pc.
 */
#define EHFRAME_RA_SIGNAL 0x80
/* Or-ed to ra: the caller is on another stack, so its frame need not lie above this one. */
#define EHFRAME_RA_SWITCH 0x40
#define EHFRAME_RA_MASK 0x3f

struct ehframe_rule {
	unsigned char cfa, fp, ra;
	signed char extra;
	int cfa_off;
	short fp_off, ra_off;
};

#define EHFRAME_ROW(off, rule) (((unsigned)(off)&0xffff) << 16 | (rule))
#define EHFRAME_ROW_RULE(row) ((row)&0xffff)

/* These rules have the same number in every table. */
#define EHFRAME_RULE_NONE 0
#define EHFRAME_RULE_FULL 1
#define EHFRAME_RULE_BOTTOM 2
#define EHFRAME_RULES_FIXED 3
#define EHFRAME_RULES_MAX 65536

/* DWARF's register numbers. */
#define EHFRAME_X86_BX 3
#define EHFRAME_X86_FP 6
#define EHFRAME_X86_SP 7
#define EHFRAME_X86_RA 16
#define EHFRAME_ARM64_FP 29
#define EHFRAME_ARM64_LR 30
#define EHFRAME_ARM64_SP 31

/*
 * How a stack ended. Every chain, walked in the kernel or unwound from a copy,
 * carries one; only UNWIND_BOTTOM is a whole stack.
 */
enum unwind_end {
	UNWIND_NONE,	 /* there is no user stack (kernel thread, idle, in the middle of exec) */
	UNWIND_BOTTOM,	 /* the outermost frame was reached */
	UNWIND_DEPTH,	 /* cut: more frames than asked for */
	UNWIND_NO_MAP,	 /* the address is in no known executable mapping */
	UNWIND_NO_TABLE, /* mapped, but no unwinding information, and no usable frame pointer */
	UNWIND_PENDING,	 /* its table was still being built */
	UNWIND_BAD_ADDRESS, /* the stack could not be read where the next frame must be */
	UNWIND_NO_PROGRESS, /* the frame does not lie above the last one */
	UNWIND_TRUNCATED,   /* the copy of the stack ended */
	UNWIND_NEEDS_FULL,  /* an expression only the full evaluator can run */
	UNWIND_NO_REGISTER, /* needs a register whose value is lost */
	UNWIND_BAD_TABLE,   /* the unwinding information makes no sense */
	UNWIND_ABI,	    /* a 32-bit process */
	UNWIND_END_MAX,
};

/* And how it was found (flags). */
#define UNWIND_USED_FP 1u   /* at least one frame was found by frame pointer only */
#define UNWIND_USED_FULL 2u /* full evaluation was needed */
#define UNWIND_SIGNAL 4u    /* goes through a signal frame */
