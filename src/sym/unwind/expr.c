/* SPDX-License-Identifier: MIT */
/*
 * DWARF expressions, as call frame information uses them: registers, memory
 * and arithmetic. Bounded in stack and steps, because branches may loop.
 */
#include "sym/dwarf/op.h"
#include "sym/unwind/frame.h"

#define DEPTH_MAX 64
#define STEPS_MAX 2000

struct machine {
	struct unwind_work *w;
	const struct unwind_regs *regs;
	uint64_t stack[DEPTH_MAX];
	unsigned depth;
	bool bad;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == DEPTH_MAX)
		m->bad = true;
	else
		m->stack[m->depth++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_reg(struct machine *m, uint64_t reg, int64_t off)
{
	if (reg >= UNWIND_REGS || !(m->regs->known >> reg & 1))
		m->bad = true;
	else
		push(m, m->regs->r[reg] + (uint64_t)off);
}

static void pick(struct machine *m, unsigned n)
{
	if (n >= m->depth)
		m->bad = true;
	else
		push(m, m->stack[m->depth - 1 - n]);
}

static void deref(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), v = 0;

	if (size == 8 ? !unwind_read(m->w, addr, &v)
		      : (size != 1 && size != 2 && size != 4) ||
				!unwind_read_other(m->w, addr, &v, size))
		m->bad = true;
	push(m, v);
}

/* An operation on the top two: a below b. */
static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_and: return a & b;
	case OP_minus: return a - b;
	case OP_mul: return a * b;
	case OP_or: return a | b;
	case OP_plus: return a + b;
	case OP_shl: return b < 64 ? a << b : 0;
	case OP_shr: return b < 64 ? a >> b : 0;
	// cppcheck-suppress shiftTooManyBitsSigned ; gcc and clang keep the sign
	case OP_shra: return (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
	case OP_xor: return a ^ b;
	case OP_eq: return a == b;
	case OP_ge: return (int64_t)a >= (int64_t)b;
	case OP_gt: return (int64_t)a > (int64_t)b;
	case OP_le: return (int64_t)a <= (int64_t)b;
	case OP_lt: return (int64_t)a < (int64_t)b;
	case OP_ne: return a != b;
	case OP_div: /* signed; the one overflow gives itself */
		if (b)
			return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
		break;
	case OP_mod:
		if (b)
			return a % b;
		break;
	default: break;
	}
	m->bad = true;
	return 0;
}

/* bra and skip: the target must lie inside the block. */
static void branch(struct machine *m, struct bytes *r, const uint8_t *start, bool taken)
{
	int64_t by = (int16_t)bytes_u16(r);

	if (!taken)
		return;
	if (by < start - r->p || by > r->end - r->p)
		m->bad = true;
	else
		r->p += by;
}

static void operation(struct machine *m, struct bytes *r, const uint8_t *start, uint8_t op)
{
	uint64_t a, b, c;

	if (dwarf_op_constant(r, op, &a)) {
		push(m, a);
		return;
	}
	if (op >= OP_breg0 && op <= OP_breg31) {
		push_reg(m, op - (unsigned)OP_breg0, bytes_sleb(r));
		return;
	}
	switch (op) {
	case OP_nop: return;
	case OP_bregx:
		a = bytes_uleb(r);
		push_reg(m, a, bytes_sleb(r));
		return;
	case OP_addr: push(m, bytes_u64(r)); return;
	case OP_deref: deref(m, 8); return;
	case OP_deref_size: deref(m, bytes_u8(r)); return;
	case OP_dup: pick(m, 0); return;
	case OP_over: pick(m, 1); return;
	case OP_pick: pick(m, bytes_u8(r)); return;
	case OP_bra: branch(m, r, start, pop(m) != 0); return;
	case OP_skip: branch(m, r, start, true); return;
	default: break;
	}
	b = pop(m);
	switch (op) {
	case OP_drop: return;
	case OP_abs: push(m, (int64_t)b < 0 ? 0 - b : b); return;
	case OP_neg: push(m, 0 - b); return;
	case OP_not: push(m, ~b); return;
	case OP_plus_uconst: push(m, b + bytes_uleb(r)); return;
	default: break;
	}
	a = pop(m);
	if (op == OP_swap) {
		push(m, b);
		push(m, a);
	} else if (op == OP_rot) {
		c = pop(m);
		push(m, b);
		push(m, c);
		push(m, a);
	} else {
		push(m, binary(m, op, a, b));
	}
}

bool unwind_expr(struct unwind_work *w, const uint8_t *block, size_t n, const uint64_t *initial,
		 const struct unwind_regs *regs, uint64_t *ret)
{
	struct bytes r = { .p = block, .end = block + n };
	struct machine m = { .w = w, .regs = regs };
	unsigned steps = 0;

	if (initial)
		push(&m, *initial);
	while (r.p < r.end && !m.bad && !r.bad) {
		if (++steps > STEPS_MAX)
			return false;
		operation(&m, &r, block, bytes_u8(&r));
	}
	if (m.bad || r.bad || !m.depth)
		return false;
	*ret = pop(&m);
	return true;
}
