/* SPDX-License-Identifier: MIT */
/*
 * One instruction's effect on what a rule can hold. What it cannot hold is
 * marked as lost, and becomes a row for the full evaluator.
 */
#include "sym/dwarf/op.h"
#include "sym/unwind/ehframe_cfi.h"

#include <elf.h>

const struct ehframe_regs *ehframe_machine_regs(uint16_t machine)
{
	static const struct ehframe_regs x86 = { EHFRAME_X86_FP, EHFRAME_X86_SP, EHFRAME_X86_RA,
						 16 };
	static const struct ehframe_regs arm = { EHFRAME_ARM64_FP, EHFRAME_ARM64_SP,
						 EHFRAME_ARM64_LR, 31 };

	return machine == EM_X86_64 ? &x86 : &arm;
}

/* DW_OP_bregN OFFSET, and what stands behind it. */
static bool expr_breg(const struct cfi_op *op, uint32_t *reg, int64_t *off, const uint8_t **rest)
{
	struct bytes r = { .p = op->block, .end = op->block + op->value };
	uint8_t code = bytes_u8(&r);

	if (code < OP_breg0 || code > OP_breg31)
		return false;
	*reg = code - (unsigned)OP_breg0;
	*off = bytes_sleb(&r);
	*rest = r.p;
	return !r.bad;
}

/* That and nothing else. */
static bool is_breg(const struct cfi_op *op, uint32_t *reg, int64_t *off)
{
	const uint8_t *rest;

	return expr_breg(op, reg, off, &rest) && rest == op->block + op->value;
}

static bool fits_words(int64_t off)
{
	return off % 8 == 0 && off / 8 >= INT16_MIN && off / 8 <= INT16_MAX;
}

static void cfa_register(struct ehframe_state *s, const struct ehframe_regs *m, uint32_t reg,
			 int64_t off)
{
	s->lost &= ~EHFRAME_LOST_CFA;
	s->rule.extra = 0;
	if (off < INT32_MIN || off > INT32_MAX || reg > m->regs) {
		s->lost |= EHFRAME_LOST_CFA;
		return;
	}
	s->rule.cfa_off = s->cfa_off = (int)off;
	if (reg == m->sp) {
		s->rule.cfa = EHFRAME_CFA_SP;
	} else if (reg == m->fp) {
		s->rule.cfa = EHFRAME_CFA_FP;
	} else {
		s->rule.cfa = EHFRAME_CFA_REG;
		s->rule.extra = (signed char)reg;
	}
}

/*
 * The forms that occur: a procedure linkage table's
 *	breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
 * and a saved stack pointer: bregX A; deref; [plus_uconst B].
 */
static void cfa_expression(struct ehframe_state *s, const struct ehframe_regs *m,
			   const struct cfi_op *op)
{
	const uint8_t *p = op->block, *rest;
	const uint8_t *end = p + op->value;
	int64_t off, add = 0;
	uint32_t reg;

	s->lost |= EHFRAME_LOST_CFA;
	if (op->value == 11 && m->sp == EHFRAME_X86_SP && p[0] == 0x77 && p[1] < 0x40 &&
	    p[2] == 0x80 && p[3] == 0 && p[4] == 0x3f && p[5] == 0x1a && p[6] >= 0x30 &&
	    p[6] <= 0x3f && p[7] == 0x2a && p[8] == 0x33 && p[9] == 0x24 && p[10] == 0x22) {
		s->rule.cfa = EHFRAME_CFA_PLT;
		s->rule.cfa_off = p[1];
		/* Linkers write 10 for entries whose push ends at byte 9; no instruction starts at
		 * 10 there, so 9 is right for both. */
		s->rule.extra = p[6] == 0x3a ? 9 : (signed char)(p[6] - 0x30);
		s->lost &= ~EHFRAME_LOST_CFA;
		return;
	}
	if (!expr_breg(op, &reg, &off, &rest) || (reg != m->sp && reg != m->fp) || rest >= end ||
	    *rest++ != OP_deref)
		return;
	if (rest < end && *rest == OP_plus_uconst) {
		struct bytes r = { .p = rest + 1, .end = end };

		add = (int64_t)bytes_uleb(&r);
		rest = r.p;
		if (r.bad)
			return;
	}
	if (rest != end || off < INT32_MIN || off > INT32_MAX || add % 8 || add < 0 ||
	    add / 8 > INT8_MAX)
		return;
	s->rule.cfa = reg == m->sp ? EHFRAME_CFA_DEREF_SP : EHFRAME_CFA_DEREF_FP;
	s->rule.cfa_off = (int)off;
	s->rule.extra = (signed char)(add / 8);
	s->lost &= ~EHFRAME_LOST_CFA;
}

/* The frame pointer's rule is op's; false when it is more than a rule can say. */
static bool fp_rule(struct ehframe_state *s, const struct ehframe_regs *m, const struct cfi_op *op)
{
	int64_t off = op->value;
	uint32_t reg;

	switch (op->kind) {
	case CFI_SAME:
		s->rule.fp = EHFRAME_FP_SAME;
		s->rule.fp_off = 0;
		return true;
	case CFI_UNDEFINED:
		s->rule.fp = EHFRAME_FP_UNDEF;
		s->rule.fp_off = 0;
		return true;
	case CFI_OFFSET: s->rule.fp = EHFRAME_FP_CFA; break;
	case CFI_EXPR:
		if (!is_breg(op, &reg, &off) || (reg != m->sp && reg != m->fp))
			return false;
		s->rule.fp = reg == m->sp ? EHFRAME_FP_SP : EHFRAME_FP_FP;
		break;
	default: return false;
	}
	if (!fits_words(off))
		return false;
	s->rule.fp_off = (short)(off / 8);
	return true;
}

static bool ra_rule(struct ehframe_state *s, const struct ehframe_regs *m, const struct cfi_op *op)
{
	unsigned char signal = s->rule.ra & EHFRAME_RA_SIGNAL;
	int64_t off = op->value;
	uint32_t reg;

	s->lost &= ~EHFRAME_RA_UNDEF;
	switch (op->kind) {
	case CFI_UNDEFINED: s->lost |= EHFRAME_RA_UNDEF; return true;
	case CFI_SAME:
	case CFI_REGISTER:
		off = op->kind == CFI_SAME ? m->ra : op->value;
		if (off < 0 || off > m->regs)
			return false;
		s->rule.ra = EHFRAME_RA_REG | signal;
		s->rule.ra_off = (short)off;
		return true;
	case CFI_OFFSET: s->rule.ra = EHFRAME_RA_CFA | signal; break;
	case CFI_EXPR:
		if (!is_breg(op, &reg, &off) || reg != m->sp)
			return false;
		s->rule.ra = EHFRAME_RA_SP | signal;
		break;
	default: return false;
	}
	if (!fits_words(off))
		return false;
	s->rule.ra_off = (short)(off / 8);
	return true;
}

/* A rule for the stack pointer itself is fine only where it says what everybody assumes. */
static bool sp_rule(const struct ehframe_state *s, const struct ehframe_regs *m,
		    const struct cfi_op *op)
{
	uint32_t reg;
	int64_t off;

	if (op->kind == CFI_VAL_OFFSET)
		return op->value == 0;
	return op->kind == CFI_EXPR && is_breg(op, &reg, &off) && reg == m->sp &&
	       s->rule.cfa == EHFRAME_CFA_DEREF_SP && s->rule.cfa_off == off && !s->rule.extra;
}

static bool bx_rule(struct ehframe_state *s, const struct cfi_op *op)
{
	if (op->kind == CFI_SAME)
		s->bx = 0;
	else if (op->kind == CFI_OFFSET && fits_words(op->value) && op->value)
		s->bx = (short)(op->value / 8);
	else
		return false;
	return true;
}

static void register_rule(struct ehframe_state *s, const struct ehframe_regs *m,
			  const struct cfi_op *op)
{
	uint32_t bit = op->reg == m->fp	  ? EHFRAME_LOST_FP
		       : op->reg == m->ra ? EHFRAME_LOST_RA
					  : EHFRAME_LOST_SP;
	bool ok;

	if (op->reg == m->fp)
		ok = fp_rule(s, m, op);
	else if (op->reg == m->ra)
		ok = ra_rule(s, m, op);
	else if (op->reg == m->sp)
		ok = sp_rule(s, m, op);
	else if (op->reg == EHFRAME_X86_BX && m->sp == EHFRAME_X86_SP)
		ok = bx_rule(s, op), bit = EHFRAME_LOST_BX;
	else
		return;
	s->lost = ok ? s->lost & ~bit : s->lost | bit;
}

void ehframe_state_restore(struct ehframe_state *s, const struct ehframe_state *from,
			   const struct ehframe_regs *m, uint32_t reg)
{
	uint32_t bits = 0;

	if (reg == m->fp) {
		s->rule.fp = from->rule.fp;
		s->rule.fp_off = from->rule.fp_off;
		bits = EHFRAME_LOST_FP;
	} else if (reg == m->ra) {
		s->rule.ra = from->rule.ra;
		s->rule.ra_off = from->rule.ra_off;
		bits = EHFRAME_LOST_RA | EHFRAME_RA_UNDEF;
	} else if (reg == m->sp) {
		bits = EHFRAME_LOST_SP;
	} else if (reg == EHFRAME_X86_BX && m->sp == EHFRAME_X86_SP) {
		s->bx = from->bx;
		bits = EHFRAME_LOST_BX;
	}
	s->lost = (s->lost & ~bits) | (from->lost & bits);
}

void ehframe_state_apply(struct ehframe_state *s, const struct ehframe_regs *m,
			 const struct cfi_op *op)
{
	switch (op->kind) {
	case CFI_DEF_CFA: cfa_register(s, m, op->reg, op->value); break;
	case CFI_DEF_CFA_REG: cfa_register(s, m, op->reg, s->cfa_off); break;
	case CFI_DEF_CFA_EXPR: cfa_expression(s, m, op); break;
	default: register_rule(s, m, op);
	}
}
