/* SPDX-License-Identifier: MIT */
/*
 * A table in the making: rows go in by rising offset. Private to sym/.
 */
#ifndef KYMO_SYM_UNWIND_EHFRAME_BUILD_H
#define KYMO_SYM_UNWIND_EHFRAME_BUILD_H

#include "sym/unwind/ehframe_cfi.h"

/* Which registers matter on a machine, by DWARF number; regs: the last one a rule may name. */
struct ehframe_regs {
	uint32_t fp, sp, ra, regs;
};
const struct ehframe_regs *ehframe_machine_regs(uint16_t machine);

/* What a state cannot express (state->lost). */
#define EHFRAME_LOST_CFA 1u
#define EHFRAME_LOST_FP 2u
#define EHFRAME_LOST_RA 4u
#define EHFRAME_LOST_SP 8u   /* the caller's stack pointer is not the CFA */
#define EHFRAME_LOST_BX 32u  /* matters only where rbx is followed */
#define EHFRAME_RA_UNDEF 16u /* not lost: the outermost frame */

struct ehframe_state {
	struct ehframe_rule rule;
	uint32_t lost;
	short bx;    /* where rbx is saved, in words from the CFA; 0: untouched */
	int cfa_off; /* of the last register the CFA was based on: comes back after an expression */
};
/* Any instruction about the CFA or a register but def_cfa_offset and restore. */
void ehframe_state_apply(struct ehframe_state *s, const struct ehframe_regs *m,
			 const struct cfi_op *op);
void ehframe_state_restore(struct ehframe_state *s, const struct ehframe_state *from,
			   const struct ehframe_regs *m, uint32_t reg);

struct ehframe_builder {
	const struct ehframe *f;
	uint64_t base;
	uint32_t n_chunks, chunk; /* chunk: the one the last row is in */
	uint32_t *index;
	uint32_t *rows;
	uint32_t n_rows, cap_rows;
	/* The row that is not in rows yet, because one at the same offset may replace it. */
	uint64_t next_off;
	uint32_t next_rule, last_rule; /* last_rule: of the last row in rows */
	struct ehframe_rule *rules;
	uint32_t n_rules, cap_rules;
	uint16_t *slots; /* hash of rules: rule + 1, 0 is free; cap_slots is a power of two */
	uint32_t cap_slots;
	uint32_t n_fdes, n_bad, n_full;
	bool wants_bx, with_bx; /* a CFA is based on rbx; rules follow rbx */
	uint64_t work_left;	/* bytes of instructions that may still be run */
	uint64_t text_left;	/* bytes of code that may still be looked at */
};

/* The number of a rule; EHFRAME_RULE_FULL once there are too many. */
uint32_t ehframe_rule_id(struct ehframe_builder *b, const struct ehframe_rule *r);
/* Make the waiting row a real one. */
void ehframe_emit_flush(struct ehframe_builder *b);

/* From off on, rule. Offsets that do not rise are ignored; equal ones replace. */
static inline void ehframe_emit(struct ehframe_builder *b, uint64_t off, uint32_t rule)
{
	if (off > b->next_off) {
		if (b->next_rule != b->last_rule)
			ehframe_emit_flush(b);
		b->next_off = off;
		b->next_rule = rule;
	} else if (off == b->next_off) {
		b->next_rule = rule;
	}
}

/*
 * Code that no FDE covers, [start, end): what its bytes show (signal
 * trampolines, procedure linkage, the entry point) becomes rows; the rest is
 * EHFRAME_RULE_NONE. Called in order with the FDEs (ehframe_code.c).
 */
void ehframe_code_gap(struct ehframe_builder *b, uint64_t start, uint64_t end);
/* The same for code of Go (ehframe_go.c); false when there is none. */
bool ehframe_go_gap(struct ehframe_builder *b, uint64_t start, uint64_t end);
/* Is the function of Go at [start, end) one that other tables are wrong about? *rule is its own. */
bool ehframe_go_special(struct ehframe_builder *b, uint64_t start, uint64_t end, uint32_t *rule);
/* Is it the code that a signal handler returns to? */
bool ehframe_code_signal(struct ehframe_builder *b, uint64_t start, uint32_t *rule);
/* Whether there are tables of Go that can be read. */
bool ehframe_go_has(const struct ehframe *f);

#endif
