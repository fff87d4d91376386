/* SPDX-License-Identifier: MIT */
/*
 * DWARF expressions, as call frame information uses them: registers, memory
 * and arithmetic. Bounded in stack and steps, because branches may loop.
 */
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

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

/* Operations on the top one or two. */
static void arithmetic(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a;

	switch (op) {
	case 0x19: /* abs */ push(m, (int64_t)b < 0 ? 0 - b : b); return;
	case 0x1f: push(m, 0 - b); return;
	case 0x20: push(m, ~b); return;
	}
	a = pop(m);
	switch (op) {
	case 0x1a: push(m, a & b); return;
	case 0x1b: /* div, signed; the one overflow gives itself */
		if (!b)
			m->bad = true;
		else
			push(m, b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b));
		return;
	case 0x1c: push(m, a - b); return;
	case 0x1d:
		if (!b)
			m->bad = true;
		else
			push(m, a % b);
		return;
	case 0x1e: push(m, a * b); return;
	case 0x21: push(m, a | b); return;
	case 0x22: push(m, a + b); return;
	case 0x24: push(m, b < 64 ? a << b : 0); return;
	case 0x25: push(m, b < 64 ? a >> b : 0); return;
	// cppcheck-suppress shiftTooManyBitsSigned ; gcc and clang keep the sign
	case 0x26: push(m, (uint64_t)((int64_t)a >> (b < 64 ? b : 63))); return;
	case 0x27: push(m, a ^ b); return;
	case 0x29: push(m, a == b); return;
	case 0x2a: push(m, (int64_t)a >= (int64_t)b); return;
	case 0x2b: push(m, (int64_t)a > (int64_t)b); return;
	case 0x2c: push(m, (int64_t)a <= (int64_t)b); return;
	case 0x2d: push(m, (int64_t)a < (int64_t)b); return;
	case 0x2e: push(m, a != b); return;
	}
}

/* bra and skip: the target must lie inside the block. */
static void branch(struct machine *m, struct cfi_reader *r, const uint8_t *start, bool taken)
{
	int64_t by = (int16_t)cfi_fixed(r, 2);

	if (!taken)
		return;
	if (by < start - r->p || by > r->end - r->p)
		m->bad = true;
	else
		r->p += by;
}

static void unwind_expr_constant(struct machine *m, struct cfi_reader *r, uint8_t op)
{
	switch (op) {
	case 0x03: push(m, cfi_fixed(r, 8)); break; /* addr */
	case 0x08: push(m, cfi_u8(r)); break;
	case 0x09: push(m, (uint64_t)(int8_t)cfi_u8(r)); break;
	case 0x0a: push(m, cfi_fixed(r, 2)); break;
	case 0x0b: push(m, (uint64_t)(int16_t)cfi_fixed(r, 2)); break;
	case 0x0c: push(m, cfi_fixed(r, 4)); break;
	case 0x0d: push(m, (uint64_t)(int32_t)cfi_fixed(r, 4)); break;
	case 0x0e:
	case 0x0f: push(m, cfi_fixed(r, 8)); break;
	case 0x10: push(m, cfi_uleb(r)); break;
	case 0x11: push(m, (uint64_t)cfi_sleb(r)); break;
	}
}

static void operation(struct machine *m, struct cfi_reader *r, const uint8_t *start, uint8_t op)
{
	uint64_t a, b;

	if (op >= 0x30 && op <= 0x4f) { /* lit */
		push(m, op - 0x30u);
	} else if (op >= 0x70 && op <= 0x8f) { /* breg */
		push_reg(m, op - 0x70u, cfi_sleb(r));
	} else if (op == 0x92) { /* bregx */
		a = cfi_uleb(r);
		push_reg(m, a, cfi_sleb(r));
	} else if (op == 0x03 || (op >= 0x08 && op <= 0x11)) {
		unwind_expr_constant(m, r, op);
	} else if (op == 0x06) {
		deref(m, 8);
	} else if (op == 0x94) {
		deref(m, cfi_u8(r));
	} else if (op == 0x12) {
		pick(m, 0);
	} else if (op == 0x13) {
		pop(m);
	} else if (op == 0x14) {
		pick(m, 1);
	} else if (op == 0x15) {
		pick(m, cfi_u8(r));
	} else if (op == 0x16) { /* swap */
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
	} else if (op == 0x17) {
		rotate(m);
	} else if (op == 0x23) {
		push(m, pop(m) + cfi_uleb(r));
	} else if (op == 0x28) {
		branch(m, r, start, pop(m) != 0);
	} else if (op == 0x2f) {
		branch(m, r, start, true);
	} else if ((op >= 0x19 && op <= 0x22) || (op >= 0x24 && op <= 0x27) ||
		   (op >= 0x29 && op <= 0x2e)) {
		arithmetic(m, op);
	} else if (op != 0x96) { /* nop */
		m->bad = true;
	}
}

bool unwind_expr(struct unwind_work *w, const uint8_t *block, size_t n, const uint64_t *initial,
		 const struct unwind_regs *regs, uint64_t *ret)
{
	struct cfi_reader r = { .p = block, .end = block + n };
	struct machine m = { .w = w, .regs = regs };
	unsigned steps = 0;

	if (initial)
		push(&m, *initial);
	while (r.p < r.end && !m.bad && !r.bad) {
		if (++steps > STEPS_MAX)
			return false;
		operation(&m, &r, block, cfi_u8(&r));
	}
	if (m.bad || r.bad || !m.depth)
		return false;
	*ret = pop(&m);
	return true;
}
