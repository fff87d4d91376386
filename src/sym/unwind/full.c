/* SPDX-License-Identifier: MIT */
/*
 * One frame with all its registers, straight from the call frame information:
 * for what compact rows cannot express. Slow (microseconds), seldom needed.
 */
#include "sym/unwind/frame.h"

#include "base/mem.h"

/* By the instruction that made it; CFI_NOP: none did, it is as the ABI has it. */
struct rule {
	enum cfi_op_kind kind;
	int64_t value; /* offset, register, or length of block */
	const uint8_t *block;
};

struct row {
	struct rule cfa; /* CFI_OFFSET: register cfa_reg + value; CFI_EXPR */
	uint32_t cfa_reg;
	int64_t cfa_off; /* of the last register, which outlives an expression */
	struct rule reg[UNWIND_REGS];
};

#define ROW_DEPTH 16

struct interpreter {
	struct row row, initial;
	struct row *stack; /* ROW_DEPTH, made when first needed */
	unsigned depth;
	bool in_cie;
};

static void set_cfa(struct row *row, uint32_t reg, int64_t off)
{
	row->cfa_reg = reg;
	row->cfa_off = off;
	row->cfa = (struct rule){ .kind = CFI_OFFSET, .value = off };
}

static bool apply(struct interpreter *in, const struct cfi_op *op)
{
	struct row *row = &in->row;

	switch (op->kind) {
	case CFI_NOP:
	case CFI_ADVANCE:
	case CFI_SET_LOC: break;
	case CFI_OFFSET:
	case CFI_VAL_OFFSET:
	case CFI_UNDEFINED:
	case CFI_SAME:
	case CFI_REGISTER:
	case CFI_EXPR:
	case CFI_VAL_EXPR:
		if (op->reg < UNWIND_REGS)
			row->reg[op->reg] = (struct rule){ op->kind, op->value, op->block };
		break;
	case CFI_RESTORE:
		if (in->in_cie)
			return false;
		if (op->reg < UNWIND_REGS)
			row->reg[op->reg] = in->initial.reg[op->reg];
		break;
	case CFI_REMEMBER:
		if (in->depth == ROW_DEPTH)
			return false;
		if (!in->stack)
			in->stack = mem_alloc(ROW_DEPTH * sizeof(*in->stack));
		in->stack[in->depth++] = *row;
		break;
	case CFI_RESTORE_STATE:
		if (!in->depth)
			return false;
		*row = in->stack[--in->depth];
		break;
	case CFI_DEF_CFA: set_cfa(row, op->reg, op->value); break;
	case CFI_DEF_CFA_REG: set_cfa(row, op->reg, row->cfa_off); break;
	case CFI_DEF_CFA_OFF:
		row->cfa_off = op->value;
		if (row->cfa.kind == CFI_OFFSET)
			row->cfa.value = op->value;
		break;
	case CFI_DEF_CFA_EXPR: row->cfa = (struct rule){ CFI_EXPR, op->value, op->block }; break;
	}
	return true;
}

/* Run instructions up to the row that holds for vaddr. */
static bool unwind_full_run(struct interpreter *in, const struct cfi_cie *cie, const uint8_t *p,
			    const uint8_t *end, uint64_t loc, uint64_t vaddr)
{
	struct bytes r = { .p = p, .end = end };
	struct cfi_op op;

	while (cfi_next(&r, cie, &op)) {
		if (op.kind == CFI_ADVANCE)
			loc += (uint64_t)op.value;
		else if (op.kind == CFI_SET_LOC)
			loc = (uint64_t)op.value;
		if (!in->in_cie && loc > vaddr)
			return true;
		if (!apply(in, &op))
			return false;
	}
	return !r.bad;
}

static bool find_row(struct interpreter *in, const struct cfi_cie *cie, const struct cfi_fde *fde,
		     uint64_t vaddr)
{
	bool ok;

	in->in_cie = true;
	ok = unwind_full_run(in, cie, cie->insns, cie->insns_end, 0, 0);
	in->in_cie = false;
	in->initial = in->row;
	in->depth = 0;
	return ok && unwind_full_run(in, cie, fde->insns, fde->insns_end, fde->start, vaddr);
}

static bool saved_by_callee(bool x86, unsigned reg)
{
	return x86 ? reg == 3 || reg == EHFRAME_X86_FP || (reg >= 12 && reg <= 15)
		   : reg >= 19 && reg <= 30;
}

/* The caller's value of one register; false when it cannot be had. */
static bool recover(struct unwind_work *w, const struct rule *rule, unsigned reg, uint64_t cfa,
		    const struct unwind_regs *old, uint64_t *ret)
{
	uint64_t addr;

	switch (rule->kind) {
	case CFI_NOP:
	case CFI_SAME:
		*ret = old->r[reg];
		return (old->known >> reg & 1) &&
		       (rule->kind == CFI_SAME || saved_by_callee(w->x86, reg));
	case CFI_OFFSET: return unwind_read(w, cfa + (uint64_t)rule->value, ret);
	case CFI_VAL_OFFSET: *ret = cfa + (uint64_t)rule->value; return true;
	case CFI_REGISTER:
		if (rule->value < 0 || rule->value >= UNWIND_REGS ||
		    !(old->known >> rule->value & 1))
			return false;
		*ret = old->r[rule->value];
		return true;
	case CFI_EXPR:
		return unwind_expr(w, rule->block, (size_t)rule->value, &cfa, old, &addr) &&
		       unwind_read(w, addr, ret);
	case CFI_VAL_EXPR: return unwind_expr(w, rule->block, (size_t)rule->value, &cfa, old, ret);
	default: return false;
	}
}

static enum unwind_end evaluate(struct unwind_work *w, const struct row *row, unsigned ra_reg,
				struct unwind_regs *regs)
{
	struct unwind_regs old = *regs;
	unsigned sp = unwind_sp_reg(w->x86);
	uint64_t cfa, ra;

	if (row->cfa.kind == CFI_OFFSET) {
		if (row->cfa_reg >= UNWIND_REGS || !(old.known >> row->cfa_reg & 1))
			return UNWIND_NO_REGISTER;
		cfa = old.r[row->cfa_reg] + (uint64_t)row->cfa.value;
	} else if (row->cfa.kind != CFI_EXPR) {
		return UNWIND_BAD_TABLE;
	} else if (!unwind_expr(w, row->cfa.block, (size_t)row->cfa.value, NULL, &old, &cfa)) {
		return w->truncated ? UNWIND_TRUNCATED : UNWIND_BAD_TABLE;
	}
	if (ra_reg >= UNWIND_REGS)
		return UNWIND_BAD_TABLE;
	if (row->reg[ra_reg].kind == CFI_UNDEFINED)
		return UNWIND_BOTTOM;
	regs->known = 0;
	for (unsigned i = 0; i < UNWIND_REGS; i++)
		if (recover(w, &row->reg[i], i, cfa, &old, &regs->r[i]))
			regs->known |= (uint64_t)1 << i;
	/* The caller's stack pointer is the CFA unless the row says otherwise. */
	if (row->reg[sp].kind == CFI_NOP || !(regs->known >> sp & 1)) {
		regs->r[sp] = cfa;
		regs->known |= (uint64_t)1 << sp;
	}
	if (!(regs->known >> ra_reg & 1))
		return row->reg[ra_reg].kind == CFI_OFFSET || row->reg[ra_reg].kind == CFI_EXPR
			       ? unwind_read_failed(w)
			       : UNWIND_NO_REGISTER;
	ra = regs->r[ra_reg] & w->ra_mask;
	regs->r[unwind_pc_reg(w->x86)] = ra;
	regs->known |= (uint64_t)1 << unwind_pc_reg(w->x86);
	return ra ? UNWIND_NONE : UNWIND_BOTTOM;
}

bool ehframe_cfa(const struct ehframe *f, uint64_t vaddr, unsigned *reg, int64_t *off)
{
	AUTO_FREE struct interpreter *in = NULL;
	struct cfi_cie cie;
	struct cfi_fde fde;
	bool ok;

	if (!cfi_find(f, vaddr, &cie, &fde))
		return false;
	in = mem_alloc(sizeof(*in));
	ok = find_row(in, &cie, &fde, vaddr) && in->row.cfa.kind == CFI_OFFSET;
	if (ok) {
		*reg = in->row.cfa_reg;
		*off = in->row.cfa.value;
	}
	free(in->stack);
	return ok;
}

int unwind_full_step(struct unwind_work *w, const struct ehframe *f, uint64_t vaddr,
		     struct unwind_regs *regs, bool *signal, enum unwind_end *end)
{
	AUTO_FREE struct interpreter *in = NULL;
	struct cfi_cie cie;
	struct cfi_fde fde;

	if (!cfi_find(f, vaddr, &cie, &fde))
		return -ENOENT;
	in = mem_alloc(sizeof(*in));
	w->truncated = false;
	if (!find_row(in, &cie, &fde, vaddr)) {
		*end = UNWIND_BAD_TABLE;
	} else {
		*end = evaluate(w, &in->row, cie.ra_reg, regs);
		*signal = cie.signal;
		/* A caller's link register is lost, but for one that a signal interrupted. */
		if (!w->x86 && !cie.signal)
			regs->known &= ~((uint64_t)1 << EHFRAME_ARM64_LR);
	}
	free(in->stack);
	return 0;
}
