/* SPDX-License-Identifier: MIT */
/* IR to BPF instructions. */
#include "lang/gen/ir.h"
#include "lang/lang.h"

#define R0 0
#define R5 5
#define FP 10
#define BPF_STACK 512
#define CODE_XADD 0xc0
#define CODE_JCOND 0xe0 /* may_goto, newer than the oldest headers */

struct emit_fix {
	uint32_t insn;
	int label;
};

struct emitter {
	VEC(struct bpf_insn) out;
	VEC(struct lang_line) lines;
	VEC(uint32_t) funcs;
	VEC(struct emit_fix) fixes;
	struct ir_place *place;
	uint32_t *label_at;
	VEC(uint32_t) func_refs;
	uint32_t pos;
};

static void emit_put(struct emitter *m, int code, int dst, int src, int32_t off, int32_t imm)
{
	if (!m->lines.n || m->lines.data[m->lines.n - 1].pos != m->pos)
		vec_push(&m->lines, (struct lang_line){ (uint32_t)m->out.n, m->pos });
	vec_push(&m->out, (struct bpf_insn){ .code = (uint8_t)code,
					     .dst_reg = (uint8_t)dst & 15,
					     .src_reg = (uint8_t)src & 15,
					     .off = (int16_t)off,
					     .imm = imm });
}

static bool emit_fits32(int64_t v)
{
	return v == (int32_t)v;
}

static void mov_reg(struct emitter *m, int d, int s)
{
	if (d != s)
		emit_put(m, BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0);
}

static void emit_ld64(struct emitter *m, int d, int src, int64_t v)
{
	emit_put(m, BPF_LD | BPF_DW | BPF_IMM, d, src, 0, (int32_t)v);
	emit_put(m, 0, 0, 0, 0, (int32_t)((uint64_t)v >> 32));
}

static void mov_imm(struct emitter *m, int d, int64_t v)
{
	if (emit_fits32(v))
		emit_put(m, BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, (int32_t)v);
	else
		emit_ld64(m, d, 0, v);
}

static int size_code(unsigned size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

/* Make a value be in register d. */
static void emit_into(struct emitter *m, int d, const struct ir_val *v)
{
	switch (v->kind) {
	case IV_REG:
		if (m->place[v->v].reg >= 0)
			mov_reg(m, d, m->place[v->v].reg);
		else
			emit_put(m, BPF_LDX | BPF_MEM | BPF_DW, d, FP, m->place[v->v].slot, 0);
		break;
	case IV_IMM: mov_imm(m, d, v->v); break;
	case IV_FP:
		mov_reg(m, d, FP);
		if (v->v)
			emit_put(m, BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, (int32_t)v->v);
		break;
	case IV_MAP: emit_ld64(m, d, BPF_PSEUDO_MAP_FD, v->v); break;
	case IV_FUNC:
		vec_push(&m->func_refs, (uint32_t)m->out.n);
		emit_ld64(m, d, BPF_PSEUDO_FUNC, v->v);
		break;
	case IV_NONE: mov_imm(m, d, 0); break;
	}
}

/* The register a value is in; one that is in none is put into spare. */
static int in_reg(struct emitter *m, const struct ir_val *v, int spare)
{
	if (v->kind == IV_REG && m->place[v->v].reg >= 0)
		return m->place[v->v].reg;
	emit_into(m, spare, v);
	return spare;
}

static int emit_target(const struct emitter *m, int dst)
{
	return m->place[dst].reg >= 0 ? m->place[dst].reg : R0;
}

static void emit_done(struct emitter *m, int dst, int r)
{
	if (m->place[dst].reg >= 0)
		mov_reg(m, m->place[dst].reg, r);
	else if (m->place[dst].slot)
		emit_put(m, BPF_STX | BPF_MEM | BPF_DW, FP, r, m->place[dst].slot, 0);
}

static void emit_alu(struct emitter *m, const struct ir_ins *i)
{
	int d = emit_target(m, i->dst), b = 0;
	bool imm = i->b.kind == IV_IMM && emit_fits32(i->b.v);

	if (!imm) {
		b = in_reg(m, &i->b, R5);
		if (b == d && !(i->a.kind == IV_REG && m->place[i->a.v].reg == d)) {
			mov_reg(m, R5, b);
			b = R5;
		}
	}
	emit_into(m, d, &i->a);
	emit_put(m, BPF_ALU64 | i->sub | (imm ? BPF_K : BPF_X), d, b, 0, imm ? (int32_t)i->b.v : 0);
	emit_done(m, i->dst, d);
}

static void jump_to(struct emitter *m, uint32_t insn, int label)
{
	vec_push(&m->fixes, (struct emit_fix){ insn, label });
}

/* The compare alone; the caller says where to. */
static void emit_compare(struct emitter *m, const struct ir_ins *i, int16_t off)
{
	int a = in_reg(m, &i->a, R0), b = 0;
	bool imm = i->b.kind == IV_IMM && emit_fits32(i->b.v);

	if (!imm)
		b = in_reg(m, &i->b, R5);
	emit_put(m, BPF_JMP | i->sub | (imm ? BPF_K : BPF_X), a, b, off, imm ? (int32_t)i->b.v : 0);
}

static void emit_set(struct emitter *m, const struct ir_ins *i)
{
	int d = emit_target(m, i->dst);

	emit_compare(m, i, 2);
	mov_imm(m, d, 0);
	emit_put(m, BPF_JMP | BPF_JA, 0, 0, 1, 0);
	mov_imm(m, d, 1);
	emit_done(m, i->dst, d);
}

/* Arguments into r1-r5: registers first, so that none is overwritten before it was read. */
static void emit_call(struct emitter *m, const struct ir_ins *i)
{
	int from[6] = { 0 };
	bool open[6] = { false }, any = true;

	for (unsigned k = 0; k < i->n_args; k++)
		if (i->arg[k].kind == IV_REG && m->place[i->arg[k].v].reg >= 0) {
			from[k + 1] = m->place[i->arg[k].v].reg;
			open[k + 1] = from[k + 1] != (int)k + 1;
		}
	while (any) {
		int stuck = 0;

		any = false;
		for (int d = 1; d <= 5; d++) {
			bool needed = false;

			if (!open[d])
				continue;
			for (int o = 1; o <= 5; o++)
				needed |= o != d && open[o] && from[o] == d;
			if (needed) {
				stuck = d;
				continue;
			}
			mov_reg(m, d, from[d]);
			open[d] = false;
			any = true;
		}
		if (!any && stuck) { /* a ring: one of it waits in r0 */
			mov_reg(m, R0, stuck);
			for (int o = 1; o <= 5; o++)
				if (open[o] && from[o] == stuck)
					from[o] = R0;
			any = true;
		}
	}
	for (unsigned k = 0; k < i->n_args; k++)
		if (!(i->arg[k].kind == IV_REG && m->place[i->arg[k].v].reg >= 0))
			emit_into(m, (int)k + 1, &i->arg[k]);
	emit_put(m, BPF_JMP | BPF_CALL, 0, i->helper == LANG_CALL_WALK ? BPF_PSEUDO_CALL : 0, 0,
		 i->helper);
	if (i->dst >= 0 && (m->place[i->dst].reg >= 0 || m->place[i->dst].slot))
		emit_done(m, i->dst, R0);
}

static void emit_memory(struct emitter *m, const struct ir_ins *i)
{
	bool stack = i->a.kind == IV_FP;
	int base = stack ? FP : in_reg(m, &i->a, R0), d;
	int32_t off = i->off + (stack ? (int32_t)i->a.v : 0);

	if (i->op == IR_LD) {
		d = emit_target(m, i->dst);
		emit_put(m, BPF_LDX | BPF_MEM | size_code(i->size), d, base, off, 0);
		emit_done(m, i->dst, d);
	} else if (i->op == IR_ST && i->b.kind == IV_IMM && emit_fits32(i->b.v)) {
		emit_put(m, BPF_ST | BPF_MEM | size_code(i->size), base, 0, off, (int32_t)i->b.v);
	} else {
		d = in_reg(m, &i->b, R5);
		emit_put(m,
			 i->op == IR_XADD ? BPF_STX | BPF_DW | CODE_XADD
					  : BPF_STX | BPF_MEM | size_code(i->size),
			 base, d, off, 0);
	}
}

static void emit_one(struct emitter *m, const struct ir_ins *i)
{
	int d;

	switch ((enum ir_op)i->op) {
	case IR_NOP: break;
	case IR_CTX: emit_done(m, i->dst, 1); break;
	case IR_PARAM: emit_done(m, i->dst, i->off + 1); break;
	case IR_MOV:
	case IR_NEG:
	case IR_SWAP:
		d = emit_target(m, i->dst);
		emit_into(m, d, &i->a);
		if (i->op == IR_NEG)
			emit_put(m, BPF_ALU64 | BPF_NEG, d, 0, 0, 0);
		else if (i->op == IR_SWAP)
			emit_put(m, BPF_ALU | BPF_END | BPF_TO_BE, d, 0, 0, i->size * 8);
		emit_done(m, i->dst, d);
		break;
	case IR_ALU: emit_alu(m, i); break;
	case IR_SET: emit_set(m, i); break;
	case IR_LD:
	case IR_ST:
	case IR_XADD: emit_memory(m, i); break;
	case IR_CALL: emit_call(m, i); break;
	case IR_LABEL: m->label_at[i->label] = (uint32_t)m->out.n; break;
	case IR_JMP:
		jump_to(m, (uint32_t)m->out.n, i->label);
		emit_put(m, BPF_JMP | BPF_JA, 0, 0, 0, 0);
		break;
	case IR_JCC:
		emit_compare(m, i, 0);
		jump_to(m, (uint32_t)m->out.n - 1, i->label);
		break;
	case IR_MAY_GOTO:
		jump_to(m, (uint32_t)m->out.n, i->label);
		emit_put(m, BPF_JMP | CODE_JCOND, 0, 0, 0, 0);
		break;
	case IR_RET:
		emit_into(m, R0, &i->a);
		emit_put(m, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		break;
	}
}

static int emit_function(struct emitter *m, struct ir_func *f, struct err *e)
{
	uint32_t deep;

	m->place = mem_alloc(((size_t)f->n_regs + 1) * sizeof(*m->place));
	m->label_at = mem_alloc(((size_t)f->n_labels + 1) * sizeof(*m->label_at));
	m->fixes.n = 0;
	vec_push(&m->funcs, (uint32_t)m->out.n);
	deep = ir_allocate(f, m->place);
	if (deep <= BPF_STACK) {
		vec_each (&f->ins, i) {
			m->pos = i->pos;
			emit_one(m, i);
		}
	}
	free(m->place);
	vec_each (&m->fixes, fix) {
		int64_t off = (int64_t)m->label_at[fix->label] - fix->insn - 1;

		m->out.data[fix->insn].off = (int16_t)off;
		if (off != (int16_t)off)
			deep = UINT32_MAX;
	}
	free(m->label_at);
	if (deep == UINT32_MAX)
		return err_set(e, E2BIG,
			       "this probe is too long: a jump of more than 32,767 instructions");
	if (deep > BPF_STACK)
		return err_set(e, E2BIG, "this probe keeps too much at once: more than %d bytes",
			       BPF_STACK);
	return 0;
}

int emit_code(struct ir_func **f, size_t n, struct arena *a, struct lang_code *c, struct err *e)
{
	struct emitter m = { 0 };
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = emit_function(&m, f[i], e);
	vec_each (&m.func_refs, at) {
		uint32_t which = (uint32_t)m.out.data[*at].imm;

		if (r == 0)
			m.out.data[*at].imm = (int32_t)(m.funcs.data[which] - *at - 1);
	}
	if (r == 0) {
		c->insn = arena_dup(a, m.out.data, m.out.n * sizeof(*m.out.data));
		c->n = (uint32_t)m.out.n;
		c->line = arena_dup(a, m.lines.data, m.lines.n * sizeof(*m.lines.data));
		c->n_lines = m.lines.n;
		c->func = arena_dup(a, m.funcs.data, m.funcs.n * sizeof(*m.funcs.data));
		c->n_funcs = m.funcs.n;
	}
	vec_free(&m.out);
	vec_free(&m.lines);
	vec_free(&m.funcs);
	vec_free(&m.func_refs);
	vec_free(&m.fixes);
	return r;
}
