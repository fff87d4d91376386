/* SPDX-License-Identifier: MIT */
/* Memory: the program's own (stack, scratch, variables), and reading any other. */
#include "lang/gen/gen.h"

#define ROUND8(n) (((n) + 7u) & ~7u)
#define ON_STACK_MAX 72u
#define SCRATCH_MAX 32768u /* a value of a per-CPU map */

struct gen_mark gen_mark(const struct gen *g)
{
	return (struct gen_mark){ g->stack_used, g->scratch_off };
}

void gen_release(struct gen *g, struct gen_mark m)
{
	g->stack_used = m.stack;
	g->scratch_off = m.scratch;
}

struct place gen_stack(struct gen *g, uint32_t size)
{
	g->stack_used += (int32_t)ROUND8(size);
	if ((uint32_t)g->stack_used > g->f->stack)
		g->f->stack = (uint32_t)g->stack_used;
	return (struct place){ IR_STACK(0), -g->stack_used };
}

struct place gen_scratch(struct gen *g, uint32_t size)
{
	struct place p = { g->scratch, (int32_t)g->scratch_off };

	g->scratch_used = true;
	if (size > SCRATCH_MAX || g->scratch_off + ROUND8(size) > SCRATCH_MAX) {
		if (!g->c->d->errors)
			lang_error(g->c->d, g->f->pos, 1,
				   "this needs more memory than the kernel gives a program (%u of "
				   "%u bytes)",
				   g->scratch_off + size, SCRATCH_MAX);
		return p;
	}
	g->scratch_off += ROUND8(size);
	if (g->scratch_off > g->scratch_max)
		g->scratch_max = g->scratch_off;
	return p;
}

struct place gen_memory(struct gen *g, uint32_t size)
{
	if (size <= ON_STACK_MAX && g->stack_used + (int32_t)ROUND8(size) <= g->stack_limit)
		return gen_stack(g, size);
	return gen_scratch(g, size);
}

struct place gen_at(struct place p, uint32_t off)
{
	p.off += (int32_t)off;
	return p;
}

struct ir_val gen_addr(struct gen *g, struct place p)
{
	return ir_alu(g->f, BPF_ADD, p.base, IR_IMM(p.off));
}

struct ir_val gen_at_most(struct gen *g, struct ir_val v, struct ir_val max)
{
	struct ir_val r = ir_copy(g->f, v);
	int ok = ir_label(g->f);

	ir_branch(g->f, BPF_JLE, r, max, ok);
	ir_move(g->f, (int)r.v, max);
	ir_place_label(g->f, ok);
	return r;
}

void gen_zero(struct gen *g, struct place p, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8)
		ir_store(g->f, 8, p.base, p.off + (int32_t)i, IR_IMM(0));
}

void gen_copy(struct gen *g, struct place to, struct place from, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8)
		ir_store(g->f, 8, to.base, to.off + (int32_t)i,
			 ir_load(g->f, 8, from.base, from.off + (int32_t)i));
}

int gen_read_helper(enum lt_space space, bool text)
{
	switch (space) {
	case LS_USER: return text ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user;
	case LS_ANY: return text ? BPF_FUNC_probe_read_str : BPF_FUNC_probe_read;
	default: return text ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel;
	}
}

void gen_read(struct gen *g, struct ref r, struct place to, struct ir_val size)
{
	if (r.space == LS_BPF && size.kind == IV_IMM && size.v % 8 == 0) {
		gen_copy(g, to, (struct place){ r.base, r.off }, (uint32_t)size.v);
		return;
	}
	gen_fallible(g,
		     ir_call(g->f, gen_read_helper(r.space, false), 3, gen_addr(g, to), size,
			     gen_ref_addr(g, r)),
		     BPF_JSLT, 1, gen_read_helper(r.space, false));
}

struct ir_val gen_read_str(struct gen *g, struct ref r, struct place to, struct ir_val size)
{
	struct ir_val n = ir_call(g->f, gen_read_helper(r.space, true), 3, gen_addr(g, to), size,
				  gen_ref_addr(g, r));

	gen_fallible(g, n, BPF_JSLT, 1, gen_read_helper(r.space, true));
	return n;
}

struct ir_val gen_load(struct gen *g, struct ref r, unsigned size, bool is_signed)
{
	struct ir_val v;

	if (r.space == LS_BPF || r.space == LS_CTX || r.space == LS_TRUSTED) {
		if (r.off != (int16_t)r.off) {
			r.base = gen_ref_addr(g, r);
			r.off = 0;
		}
		v = ir_load(g->f, size, r.base, r.off);
	} else {
		struct gen_mark m = gen_mark(g);
		struct place t = gen_stack(g, 8);

		if (size < 8)
			gen_zero(g, t, 8);
		gen_read(g, r, t, IR_IMM(size));
		v = ir_load(g->f, size, t.base, t.off);
		gen_release(g, m);
	}
	return is_signed && size < 8 ? ir_extend(g->f, v, size, true) : v;
}

/* A register kept per loop iteration must not be clobbered: variables are copied out. */
struct val gen_var(struct gen *g, struct lvar *v)
{
	struct val r = { 0 };

	switch (v->where) {
	case VAR_REG: r.v = ir_copy(g->f, IR_REG(v->reg)); break;
	case VAR_FRAME:
		r.v = ir_load(g->f, 8, g->frame, v->mem);
		if (v->type->kind == LT_INT)
			r.v = gen_hidden(g, r.v);
		break;
	default:
		r.m = (struct place){ g->scratch, v->mem };
		g->scratch_used = true;
		if (v->type->kind == LT_RECORD || v->type->kind == LT_ARRAY)
			r.v = gen_addr(g, r.m);
		else
			r.mem = true;
	}
	return r;
}

struct ir_val gen_fit(struct gen *g, const struct lvar *v, struct ir_val value)
{
	return v->narrow ? ir_extend(g->f, value, v->narrow->size, v->narrow->is_signed) : value;
}

void gen_set_var(struct gen *g, struct lvar *v, struct node *value)
{
	if (v->where == VAR_REG)
		ir_move(g->f, v->reg, gen_fit(g, v, gen_word(g, value)));
	else if (v->where == VAR_FRAME)
		ir_store(g->f, 8, g->frame, v->mem, gen_fit(g, v, gen_word(g, value)));
	else if (v->where == VAR_MEM)
		gen_into(g, value, (struct place){ g->scratch, v->mem }, v->type);
}

struct ir_val gen_word(struct gen *g, struct node *n)
{
	return gen_expr(g, n).v;
}

static void put_literal(struct gen *g, const char *s, size_t n, struct place p, uint32_t size)
{
	for (uint32_t i = 0; i < size; i += 8) {
		uint32_t w[2] = { 0, 0 };

		for (uint32_t k = 0; k < 8; k++)
			if (i + k < n && i + k + 1 < size)
				((char *)w)[k] = s[i + k];
		if (!w[0] && !w[1]) {
			ir_store(g->f, 8, p.base, p.off + (int32_t)i, IR_IMM(0));
		} else {
			ir_store(g->f, 4, p.base, p.off + (int32_t)i, IR_IMM((int32_t)w[0]));
			ir_store(g->f, 4, p.base, p.off + (int32_t)i + 4, IR_IMM((int32_t)w[1]));
		}
	}
}

void gen_put(struct gen *g, struct val v, const struct ltype *from, struct place p,
	     const struct ltype *to)
{
	uint32_t have = lt_stored(from), want = lt_stored(to);

	if (lt_is_word(to)) {
		ir_store(g->f, 8, p.base, p.off, v.v);
	} else if (to->kind == LT_RECORD || to->kind == LT_ARRAY) {
		if (to->size % 8)
			gen_zero(g, gen_at(p, to->size & ~7u), 8);
		gen_read(g, (struct ref){ v.v, 0, from->space }, p, IR_IMM(to->size));
	} else if (to->kind == LT_TUPLE && from->kind == LT_TUPLE) {
		for (uint32_t i = 0; i < to->n && i < from->n; i++) {
			struct val item = { .mem = true, .m = gen_at(v.m, from->offset[i]) };

			if (lt_is_word(from->item[i]))
				item.v = ir_load(g->f, 8, item.m.base, item.m.off);
			else if (from->item[i]->kind == LT_RECORD ||
				 from->item[i]->kind == LT_ARRAY)
				item.v = gen_addr(g, item.m);
			gen_put(g, item, from->item[i], gen_at(p, to->offset[i]), to->item[i]);
		}
	} else {
		gen_copy(g, p, v.m, have < want ? have : want);
		if (have < want)
			gen_zero(g, gen_at(p, have), want - have);
	}
}

/* A string that lies elsewhere: zeroed first, for it is compared and hashed whole. */
void gen_read_string(struct gen *g, struct ref r, struct place p, uint32_t from, uint32_t size)
{
	uint32_t n = from < size ? from : size;
	int whole = ir_label(g->f);
	struct ir_val got;

	gen_zero(g, p, ROUND8(size));
	got = gen_read_str(g, r, p, IR_IMM(n));
	if (n == from) { /* an array may be full, without a NUL: then its last letter is missing */
		ir_branch(g->f, BPF_JNE, got, IR_IMM(n), whole);
		r.off += (int32_t)n - 1;
		gen_read(g, r, gen_at(p, n - 1), IR_IMM(1));
	}
	ir_place_label(g->f, whole);
}

static bool is_remote_string(const struct node *n)
{
	return n->type->kind == LT_STRING && n->type->space != LS_BPF &&
	       (n->kind == N_FIELD || n->kind == N_INDEX);
}

void gen_comm(struct gen *g, struct place p, uint32_t size)
{
	int at = g->env->comm_at ? g->env->comm_at(g->env->ctx) : -1;

	if (at >= 0) { /* half of what the helper costs */
		struct ir_val task = ir_call(g->f, BPF_FUNC_get_current_task_btf, 0);

		gen_copy(g, p, (struct place){ task, at }, 16);
		gen_zero(g, gen_at(p, 16), size - 16);
	} else {
		gen_zero(g, p, size); /* before 6.2 it is not padded */
		ir_call(g->f, BPF_FUNC_get_current_comm, 2, gen_addr(g, p), IR_IMM(16));
	}
}

void gen_into(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	uint32_t size = lt_stored(to);

	g->f->pos = n->pos;
	if (lt_is_word(to)) {
		ir_store(g->f, 8, p.base, p.off, gen_word(g, n));
	} else if (n->kind == N_STR && to->kind == LT_STRING) {
		put_literal(g, n->s, n->slen, p, size);
	} else if (n->kind == N_IDENT && n->id == B_COMM) {
		gen_comm(g, p, size);
	} else if (n->kind == N_TERN) {
		int other = ir_label(g->f), end = ir_label(g->f);

		gen_branch(g, n->a, false, other);
		gen_into(g, n->b, p, to);
		ir_jump(g->f, end);
		ir_place_label(g->f, other);
		gen_into(g, n->c, p, to);
		ir_place_label(g->f, end);
	} else if (n->kind == N_TUPLE) {
		for (size_t i = 0; i < n->n; i++)
			gen_into(g, n->list[i], gen_at(p, to->offset[i]), to->item[i]);
	} else if (is_remote_string(n) &&
		   !(n->kind == N_FIELD && n->type->space == LS_CTX && g->how != LH_NORMAL)) {
		gen_read_string(g, gen_ref(g, n), p, n->type->size, to->size);
	} else if (n->kind == N_CALL) {
		gen_call_into(g, n, p, to);
	} else {
		gen_put(g, gen_expr(g, n), n->type, p, to);
	}
}
