/* SPDX-License-Identifier: MIT */
/* Expressions. */
#include "lang/gen/gen.h"

/* An index into memory the verifier watches must be provably inside. */
static struct ir_val gen_bounded(struct gen *g, struct ir_val i, uint32_t n)
{
	int ok = ir_label(g->f);
	struct ir_val r = ir_copy(g->f, i);

	ir_branch(g->f, BPF_JLT, r, IR_IMM(n), ok);
	ir_move(g->f, (int)r.v, IR_IMM(0));
	ir_place_label(g->f, ok);
	return r;
}

static struct ref index_ref(struct gen *g, struct node *n)
{
	const struct ltype *t = n->a->type;
	uint32_t size = t->elem->kind == LT_RECORD ? t->elem->rec->size : t->elem->size;
	struct ref r;
	struct ir_val i;

	if (t->kind == LT_PTR)
		r = (struct ref){ gen_word(g, n->a), 0, t->space };
	else
		r = gen_ref(g, n->a);
	i = gen_word(g, n->b);
	if (i.kind == IV_IMM && i.v * size == (int32_t)(i.v * size) && i.v * size < 1 << 24 &&
	    r.off < 1 << 24) {
		r.off += (int32_t)(i.v * size);
		return r;
	}
	if (r.space == LS_BPF || r.space == LS_CTX)
		i = gen_bounded(g, i, t->n ? t->n : 1);
	if (r.space == LS_CTX) /* the verifier allows no moved pointer into the context */
		r.space = LS_KERNEL;
	r.base = ir_alu(g->f, BPF_ADD, gen_ref_addr(g, r),
			ir_alu(g->f, BPF_MUL, i, IR_IMM(size ? size : 1)));
	r.off = 0;
	return r;
}

struct ref gen_ref(struct gen *g, struct node *n)
{
	struct ref r;

	if (n->kind == N_FIELD && n->a->type->kind == LT_PTR)
		return (struct ref){ gen_word(g, n->a), (int32_t)n->offset, n->a->type->space };
	if (n->kind == N_FIELD && n->a->type->kind == LT_RECORD) {
		r = gen_ref(g, n->a);
		r.off += (int32_t)n->offset;
		return r;
	}
	if (n->kind == N_INDEX)
		return index_ref(g, n);
	if (n->kind == N_UN && n->op == '*')
		return (struct ref){ gen_word(g, n->a), 0,
				     n->a->type->kind == LT_PTR ? n->a->type->space
								: check_space(g->c) };
	return (struct ref){ gen_expr(g, n).v, 0, n->type->space };
}

static struct ir_val gen_bits(struct gen *g, struct ir_val v, const struct lfield *f,
			      bool is_signed)
{
	unsigned up = 64u - f->bit_offset - f->bit_size;

	v = ir_alu(g->f, BPF_LSH, v, IR_IMM(up));
	return ir_alu(g->f, is_signed ? BPF_ARSH : BPF_RSH, v, IR_IMM(64 - f->bit_size));
}

/* A number or pointer in memory, maybe of some bits only. */
static struct ir_val gen_fetch_word(struct gen *g, struct ref r, const struct node *n)
{
	const struct ltype *t = n->type;
	const struct lfield *f = n->kind == N_FIELD ? n->field : NULL;
	const struct ltype *as = f ? f->type : t;
	unsigned size = as->kind == LT_PTR ? 8 : as->size;
	struct ir_val v;

	if (size != 1 && size != 2 && size != 4)
		size = 8;
	if (f && f->bit_size) {
		/* wider than its own type says, when it crosses */
		if (f->bit_offset + f->bit_size > size * 8)
			size = 8;
		return gen_bits(g, gen_load(g, r, size, false), f, t->is_signed);
	}
	v = gen_load(g, r, size, t->kind == LT_INT && t->is_signed);
	if (r.space == LS_TRUSTED && t->kind == LT_PTR) { /* the verifier wants it looked at */
		int ok = ir_label(g->f);

		ir_branch(g->f, BPF_JNE, v, IR_IMM(0), ok);
		ir_place_label(g->f, ok);
	}
	return v;
}

/* The value at a place anywhere. */
static struct val gen_fetch(struct gen *g, struct ref r, const struct node *n)
{
	const struct ltype *t = n->type;
	struct place p;

	if (n->kind == N_FIELD && n->field && n->field->data_loc) {
		struct ir_val w = ir_alu(g->f, BPF_AND, gen_load(g, r, 4, false), IR_IMM(0xffff));

		if (n->field->rel_loc)
			w = ir_alu(g->f, BPF_ADD, w, IR_IMM(r.off + 4));
		return gen_val(ir_alu(g->f, BPF_ADD, g->ctx, w));
	}
	if (t->kind == LT_RECORD || t->kind == LT_ARRAY)
		return gen_val(gen_ref_addr(g, r));
	if (lt_is_word(t))
		return gen_val(gen_fetch_word(g, r, n));
	p = gen_memory(g, lt_stored(t));
	if (t->kind == LT_STRING)
		gen_read_string(g, r, p, t->size, t->size);
	else
		gen_read(g, r, p, IR_IMM(lt_stored(t)));
	return gen_val_at(p);
}

static int cc_of(int op, bool is_signed)
{
	switch (op) {
	case T_EQ: return BPF_JEQ;
	case T_NE: return BPF_JNE;
	case '<': return is_signed ? BPF_JSLT : BPF_JLT;
	case '>': return is_signed ? BPF_JSGT : BPF_JGT;
	case T_LE: return is_signed ? BPF_JSLE : BPF_JLE;
	case T_GE: return is_signed ? BPF_JSGE : BPF_JGE;
	default: return 0;
	}
}

void gen_branch(struct gen *g, struct node *n, bool when, int label)
{
	g->f->pos = n->pos;
	if (n->folded) {
		if ((n->v != 0) == when)
			ir_jump(g->f, label);
		return;
	}
	if (n->kind == N_UN && n->op == '!') {
		gen_branch(g, n->a, !when, label);
		return;
	}
	if (n->kind == N_BIN && (n->op == T_AND || n->op == T_OR)) {
		if ((n->op == T_OR) == when) { /* either side decides */
			gen_branch(g, n->a, when, label);
			gen_branch(g, n->b, when, label);
		} else {
			int skip = ir_label(g->f);

			gen_branch(g, n->a, !when, skip);
			gen_branch(g, n->b, when, label);
			ir_place_label(g->f, skip);
		}
		return;
	}
	if (n->kind == N_BIN && (n->op == T_EQ || n->op == T_NE) && !lt_is_num(n->a->type)) {
		gen_equal(g, n->a, n->b, (n->op == T_EQ) == when, label);
		return;
	}
	if (n->kind == N_BIN && cc_of(n->op, n->v)) {
		struct ir_val a = gen_word(g, n->a), b = gen_word(g, n->b);
		int cc = cc_of(n->op, n->v);

		ir_branch(g->f, when ? cc : ir_cc_not(cc), a, b, label);
		return;
	}
	ir_branch(g->f, when ? BPF_JNE : BPF_JEQ, gen_word(g, n), IR_IMM(0), label);
}

static struct ir_val gen_truth(struct gen *g, struct node *n)
{
	int end = ir_label(g->f), r = ir_reg(g->f);

	ir_move(g->f, r, IR_IMM(1));
	gen_branch(g, n, true, end);
	ir_move(g->f, r, IR_IMM(0));
	ir_place_label(g->f, end);
	return IR_REG(r);
}

/* BPF has unsigned division only. */
static struct ir_val signed_div(struct gen *g, int op, struct ir_val a, struct ir_val b)
{
	struct ir_val sa = ir_alu(g->f, BPF_ARSH, a, IR_IMM(63)),
		      sb = ir_alu(g->f, BPF_ARSH, b, IR_IMM(63)), r, s;
	struct ir_val ua = ir_alu(g->f, BPF_SUB, ir_alu(g->f, BPF_XOR, a, sa), sa);
	struct ir_val ub = ir_alu(g->f, BPF_SUB, ir_alu(g->f, BPF_XOR, b, sb), sb);

	r = ir_alu(g->f, op, ua, ub);
	s = op == BPF_DIV ? ir_alu(g->f, BPF_XOR, sa, sb) : sa;
	return ir_alu(g->f, BPF_SUB, ir_alu(g->f, BPF_XOR, r, s), s);
}

struct ir_val gen_arith(struct gen *g, int op, struct ir_val a, struct ir_val b, bool is_signed)
{
	static const struct {
		int tok, alu;
	} table[] = { { '+', BPF_ADD }, { '-', BPF_SUB }, { '*', BPF_MUL },  { '&', BPF_AND },
		      { '|', BPF_OR },	{ '^', BPF_XOR }, { T_SHL, BPF_LSH } };

	if (op == '/' || op == '%') {
		int alu = op == '/' ? BPF_DIV : BPF_MOD;

		if (a.kind == IV_IMM && b.kind == IV_IMM && is_signed && b.v &&
		    !(a.v == INT64_MIN && b.v == -1))
			return IR_IMM(op == '/' ? a.v / b.v : a.v % b.v);
		return is_signed ? signed_div(g, alu, a, b) : ir_alu(g->f, alu, a, b);
	}
	if (op == T_SHR)
		return ir_alu(g->f, is_signed ? BPF_ARSH : BPF_RSH, a, b);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].tok == op)
			return ir_alu(g->f, table[i].alu, a, b);
	return IR_IMM(0);
}

static struct ir_val gen_binary(struct gen *g, struct node *n)
{
	struct ir_val a, b;
	bool is_signed = n->v;

	if (n->op == T_AND || n->op == T_OR ||
	    ((n->op == T_EQ || n->op == T_NE) && !lt_is_num(n->a->type)))
		return gen_truth(g, n);
	a = gen_word(g, n->a);
	b = gen_word(g, n->b);
	if (cc_of(n->op, is_signed))
		return ir_set(g->f, cc_of(n->op, is_signed), a, b);
	if (n->a->type->kind == LT_PTR && n->b->type->kind == LT_PTR)
		return gen_arith(g, '/', ir_alu(g->f, BPF_SUB, a, b), IR_IMM(lt_step(n->a->type)),
				 true);
	if (n->a->type->kind == LT_PTR && n->type->kind == LT_PTR)
		b = ir_alu(g->f, BPF_MUL, b, IR_IMM(lt_step(n->a->type)));
	else if (n->b->type->kind == LT_PTR && n->type->kind == LT_PTR)
		a = ir_alu(g->f, BPF_MUL, a, IR_IMM(lt_step(n->b->type)));
	if (n->op == T_SHR)
		is_signed = n->a->type->is_signed;
	return gen_arith(g, n->op, a, b, is_signed);
}

static struct val gen_unary(struct gen *g, struct node *n)
{
	struct ir_val a;

	if (n->op == '*')
		return gen_fetch(g, gen_ref(g, n), n);
	a = gen_word(g, n->a);
	switch (n->op) {
	case '!': return gen_val(ir_set(g->f, BPF_JEQ, a, IR_IMM(0)));
	case '~': return gen_val(ir_alu(g->f, BPF_XOR, a, IR_IMM(-1)));
	default:
		return gen_val(a.kind == IV_IMM ? IR_IMM((int64_t) - (uint64_t)a.v)
						: ir_unary(g->f, IR_NEG, a, 8));
	}
}

static struct val gen_incdec(struct gen *g, struct node *n)
{
	int64_t by = n->op == T_INC ? 1 : -1;
	struct ir_val old, new;
	struct val v;

	if (n->a->type->kind == LT_PTR)
		by *= lt_step(n->a->type);
	if (n->a->kind == N_MAP) {
		if (n->v) { /* before it is read */
			gen_map_add(g, n->a, IR_IMM(by));
			return gen_map_read(g, n->a);
		}
		v = gen_map_read(g, n->a);
		gen_map_add(g, n->a, IR_IMM(by));
		return v;
	}
	old = gen_var(g, n->a->var).v;
	new = gen_fit(g, n->a->var, ir_alu(g->f, BPF_ADD, old, IR_IMM(by)));
	if (n->a->var->where == VAR_REG)
		ir_move(g->f, n->a->var->reg, new);
	else
		ir_store(g->f, 8, g->frame, n->a->var->mem, new);
	return gen_val(n->v ? new : old);
}

/* A pointer that the verifier knows as one allows no arithmetic, such as hides what loops change:
 * read from memory by a function it is a number. */
static struct ir_val as_number(struct gen *g, struct ir_val pointer)
{
	struct place from = gen_stack(g, 8), to = gen_stack(g, 8);

	ir_store(g->f, 8, from.base, from.off, pointer);
	ir_store(g->f, 8, to.base, to.off, IR_IMM(0));
	ir_call(g->f, BPF_FUNC_probe_read_kernel, 3, gen_addr(g, to), IR_IMM(8), gen_addr(g, from));
	return ir_load(g->f, 8, to.base, to.off);
}

/* Does the verifier know what arguments point to? */
static bool knows_pointers(const struct gen *g, const struct ltype *t)
{
	return !g->env->recorded &&
	       (t->space == LS_CTX || t->space == LS_TRUSTED || g->point->kind == LP_FENTRY ||
		g->point->kind == LP_FEXIT || g->point->kind == LP_ITER);
}

static struct val gen_cast(struct gen *g, struct node *n)
{
	const struct ltype *to = n->type, *from = n->a->type;
	struct val v = gen_expr(g, n->a);

	if (to->kind == LT_INT && from->kind == LT_PTR && knows_pointers(g, from))
		v.v = as_number(g, v.v);
	if (to->kind == LT_INT && from->kind == LT_ARRAY) {
		unsigned size = to->size < from->size ? to->size : from->size;

		if (size != 1 && size != 2 && size != 4)
			size = 8;
		v.v = gen_load(g, (struct ref){ v.v, 0, from->space }, size, to->is_signed);
	} else if (to->kind == LT_INT && from->kind == LT_USYM) {
		v = gen_val(ir_load(g->f, 8, v.m.base, v.m.off));
	} else if (to->kind == LT_INT) {
		v.v = to->is_bool ? ir_set(g->f, BPF_JNE, v.v, IR_IMM(0))
				  : ir_extend(g->f, v.v, to->size, to->is_signed);
	} else if (to->kind == LT_ARRAY && from->kind == LT_INT) {
		struct place p = gen_memory(g, 8);

		ir_store(g->f, 8, p.base, p.off, v.v);
		v.v = gen_addr(g, p);
	} else if (to->kind == LT_PTR && v.mem) {
		v = gen_val(gen_addr(g, v.m));
	}
	return v;
}

/* A member of a tuple. */
static struct val gen_item(struct gen *g, struct node *n)
{
	struct place p = gen_at(gen_expr(g, n->a).m, n->offset);

	if (lt_is_word(n->type))
		return gen_val(ir_load(g->f, 8, p.base, p.off));
	return n->type->kind == LT_RECORD || n->type->kind == LT_ARRAY ? gen_val(gen_addr(g, p))
								       : gen_val_at(p);
}

/* args.NAME, and args.args[i] of raw_syscalls where args is not the record that its format says. */
static bool gen_is_args(const struct gen *g, const struct node *n)
{
	const struct node *f = n->kind == N_INDEX ? n->a : n;

	if (f->kind != N_FIELD || f->a->kind != N_IDENT || f->a->id != B_ARGS)
		return false;
	return n->kind == N_INDEX ? g->how != LH_NORMAL && f->type->kind == LT_ARRAY
				  : g->how != LH_NORMAL || g->point->kind != LP_TRACEPOINT;
}

static struct val gen_choice(struct gen *g, struct node *n)
{
	int other = ir_label(g->f), end = ir_label(g->f), r = ir_reg(g->f);
	bool value = n->type->kind != LT_VOID;

	gen_branch(g, n->a, false, other);
	for (int i = 0; i < 2; i++) {
		struct ir_val x = gen_word(g, i ? n->c : n->b);

		if (value)
			ir_move(g->f, r, x);
		if (!i)
			ir_jump(g->f, end);
		ir_place_label(g->f, i ? end : other);
	}
	return gen_val(value ? IR_REG(r) : IR_IMM(0));
}

struct val gen_expr(struct gen *g, struct node *n)
{
	struct place p;

	g->f->pos = n->pos;
	if (n->folded && lt_is_num(n->type))
		return gen_val(IR_IMM(n->v));
	switch (n->kind) {
	case N_INT: return gen_val(IR_IMM(n->v));
	case N_VAR: return gen_var(g, n->var);
	case N_MAP: return gen_map_read(g, n);
	case N_IDENT: return gen_builtin(g, n);
	case N_CALL: return gen_call(g, n);
	case N_BIN: return gen_val(gen_binary(g, n));
	case N_UN: return gen_unary(g, n);
	case N_CAST: return gen_cast(g, n);
	case N_INCDEC: return gen_incdec(g, n);
	case N_DO:
		for (size_t i = 0; i < n->n; i++)
			gen_stmt(g, n->list[i]);
		return n->a ? gen_expr(g, n->a) : gen_val(IR_IMM(0));
	case N_FIELD:
	case N_INDEX:
		if (n->kind == N_FIELD && n->a->type->kind == LT_TUPLE)
			return gen_item(g, n);
		return gen_is_args(g, n) ? gen_args_field(g, n) : gen_fetch(g, gen_ref(g, n), n);
	case N_TERN:
		if (lt_is_word(n->type))
			return gen_choice(g, n);
		break;
	default: break;
	}
	/* strings, tuples: made in memory */
	p = gen_memory(g, lt_stored(n->type));
	gen_into(g, n, p, n->type);
	return gen_val_at(p);
}
