/* SPDX-License-Identifier: MIT */
/* Functions that have a value. */
#include <arpa/inet.h>
#include <string.h>

#include "lang/gen/gen.h"

/* Where a value lies, for helpers that read it: the program's own memory counts as the kernel's. */
static struct ref gen_call_readable(struct gen *g, struct node *n)
{
	struct ref r = gen_ref(g, n);

	if (r.space == LS_BPF || r.space == LS_CTX)
		r.space = LS_KERNEL;
	return r;
}

/* Length in front, then the bytes. */
void gen_buf(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct node *a = n->list[0];
	uint32_t max = n->type->size - 8;
	struct ir_val len = IR_IMM(max);
	struct ref r;

	gen_zero(g, gen_at(p, 8), (max + 7) & ~7u);
	if (n->n > 1) {
		len = gen_word(g, n->list[1]);
		if (len.kind != IV_IMM)
			len = gen_at_most(g, len, IR_IMM(max));
		else if ((uint64_t)len.v > max)
			len = IR_IMM(max);
	}
	if (a->type->kind == LT_STRING && a->type->space == LS_BPF) {
		r = (struct ref){ gen_addr(g, gen_expr(g, a).m), 0, LS_KERNEL };
	} else if (a->type->kind == LT_ARRAY || a->type->kind == LT_STRING) {
		r = gen_call_readable(g, a);
	} else {
		r = (struct ref){ gen_word(g, a), 0,
				  a->type->kind == LT_PTR ? a->type->space : check_space(g->c) };
	}
	ir_store(g->f, 8, p.base, p.off, len);
	if (len.kind != IV_IMM || len.v)
		ir_call(g->f, gen_read_helper(r.space, false), 3, gen_addr(g, gen_at(p, 8)), len,
			gen_ref_addr(g, r));
	if (lt_stored(to) > lt_stored(n->type))
		gen_zero(g, gen_at(p, lt_stored(n->type)), lt_stored(to) - lt_stored(n->type));
}

void gen_str(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct node *a = n->list[0];
	uint32_t max = n->type->size < to->size ? n->type->size : to->size;
	struct ir_val size = IR_IMM(max);
	struct ref r = { 0 };

	if (a->type->kind == LT_STRING && n->n == 1) {
		gen_into(g, a, p, to);
		return;
	}
	gen_zero(g, p, lt_stored(to));
	if (n->n > 1) {
		struct ir_val v = gen_word(g, n->list[1]);

		if (v.kind == IV_IMM)
			size = IR_IMM((uint64_t)v.v + 1 < max ? v.v + 1 : max);
		else /* one more for the NUL */
			size = gen_at_most(g, ir_alu(g->f, BPF_ADD, v, IR_IMM(1)), IR_IMM(max));
	}
	if (a->type->kind == LT_STRING) { /* str("text", n) */
		gen_read_str(g, (struct ref){ gen_addr(g, gen_expr(g, a).m), 0, LS_KERNEL }, p,
			     size);
		return;
	}
	r.base = gen_word(g, a);
	r.space = a->type->kind == LT_PTR || a->type->kind == LT_ARRAY ? a->type->space
								       : check_space(g->c);
	if (r.space == LS_CTX || r.space == LS_TRUSTED || r.space == LS_BPF)
		r.space = LS_KERNEL;
	gen_read_str(g, r, p, size);
}

void gen_ntop(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct node *a = n->list[n->n - 1];
	const struct ltype *t = a->type;
	struct ir_val family = IR_IMM(t->size == 16 ? AF_INET6 : AF_INET);

	if (n->n == 2)
		family = gen_word(g, n->list[0]);
	gen_zero(g, gen_at(p, 8), 16);
	if (lt_is_word(t)) {
		ir_store(g->f, 4, p.base, p.off + 8, gen_word(g, a));
	} else if (t->kind == LT_STRING) {
		gen_read(g, gen_ref(g, a), gen_at(p, 8), IR_IMM(t->size));
	} else {
		gen_read(g, gen_call_readable(g, a), gen_at(p, 8), IR_IMM(t->size));
	}
	ir_store(g->f, 8, p.base, p.off, family);
}

void gen_macaddr(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct ref r = gen_call_readable(g, n->list[0]);

	gen_zero(g, p, 8);
	gen_read(g, r, p, IR_IMM(6));
}

void gen_usym(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	g->p->uses_usym = true;
	ir_store(g->f, 8, p.base, p.off, gen_word(g, n->list[0]));
	ir_store(g->f, 8, p.base, p.off + 8, gen_high32(g, BPF_FUNC_get_current_pid_tgid));
}

void gen_path(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	gen_zero(g, p, lt_stored(to));
	ir_call(g->f, BPF_FUNC_d_path, 3, gen_word(g, n->list[0]), gen_addr(g, p),
		IR_IMM(to->size));
}

struct ir_val gen_bswap(struct gen *g, struct node *n)
{
	struct ir_val v = gen_word(g, n->list[0]);

	return n->type->size == 1 ? v : ir_unary(g->f, IR_SWAP, v, n->type->size);
}

/* 0 for a CPU that does not exist. */
struct ir_val gen_percpu_kaddr(struct gen *g, struct node *n)
{
	struct ir_val cpu = n->n > 1 ? gen_word(g, n->list[1])
				     : ir_call(g->f, BPF_FUNC_get_smp_processor_id, 0);
	struct ir_val r = ir_copy(g->f, IR_IMM(0));
	int none = ir_label(g->f);
	uint64_t table = 0;

	if (g->env->kaddr)
		g->env->kaddr(g->env->ctx, "__per_cpu_offset", &table);
	if (n->n > 1)
		ir_branch(g->f, BPF_JGE, cpu, IR_IMM(g->env->ncpus), none);
	cpu = ir_alu(g->f, BPF_ADD, ir_alu(g->f, BPF_LSH, cpu, IR_IMM(3)), IR_IMM((int64_t)table));
	ir_move(g->f, (int)r.v,
		ir_alu(g->f, BPF_ADD, gen_load(g, (struct ref){ cpu, 0, LS_KERNEL }, 8, false),
		       IR_IMM(n->v)));
	ir_place_label(g->f, none);
	return r;
}

struct ir_val gen_pton(struct gen *g, struct node *n)
{
	struct place p = gen_memory(g, 16);
	uint8_t addr[16] = { 0 };

	if (inet_pton(AF_INET, n->list[0]->s, addr) != 1)
		inet_pton(AF_INET6, n->list[0]->s, addr);
	for (int i = 0; i < 16; i += 4) {
		int32_t w;

		memcpy(&w, addr + i, 4);
		ir_store(g->f, 4, p.base, p.off + i, IR_IMM(w));
	}
	return gen_addr(g, p);
}

struct ir_val gen_len(struct gen *g, struct node *n)
{
	struct node *a = n->list[0];
	struct place key;
	struct ir_val r, p;
	int none;

	if (n->v)
		return gen_map_len(g, a->map);
	if (a->type->kind == LT_STRING)
		return gen_find(g, n);
	if (a->type->kind == LT_ARRAY || a->type->kind == LT_TUPLE)
		return IR_IMM(a->type->n);
	if (!lt_is_stack(a->type)) {
		key = gen_expr(g, a).m;
		return ir_load(g->f, 8, key.base, key.off);
	}
	key = gen_stack(g, 16);
	gen_into(g, a, key, a->type);
	r = ir_copy(g->f, IR_IMM(0));
	none = ir_label(g->f);
	p = gen_lookup(g, LANG_MAP_STACKS, key);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_move(g->f, (int)r.v, ir_load(g->f, 8, p, 0));
	ir_place_label(g->f, none);
	return r;
}

struct ir_val gen_strftime(struct gen *g, struct node *n)
{
	return gen_word(g, n->list[1]);
}

/* The number that the checker has found. */
struct ir_val gen_found(struct gen *g, struct node *n)
{
	return IR_IMM(n->v);
}

struct ir_val gen_nsecs(struct gen *g, struct node *n)
{
	return ir_call(g->f,
		       n->v == 3 || n->v == 2 ? BPF_FUNC_ktime_get_tai_ns
		       : n->v == 0	      ? BPF_FUNC_ktime_get_ns
					      : BPF_FUNC_ktime_get_boot_ns,
		       0);
}

struct ir_val gen_reg(struct gen *g, struct node *n)
{
	int off = gen_register(n->list[0]->s);

	if (off >= 0)
		return ir_load(g->f, 8, g->ctx, off);
	lang_error(g->c->d, n->pos, n->len, "this machine has no register '%s'", n->list[0]->s);
	return IR_IMM(0);
}

/* The distance to the probe is the same as in the file. */
struct ir_val gen_uaddr(struct gen *g, struct node *n)
{
	return ir_alu(g->f, BPF_ADD, gen_ip(g), IR_IMM(n->v));
}

struct ir_val gen_delete(struct gen *g, struct node *n)
{
	return gen_map_delete(g, n->list[0]);
}

struct ir_val gen_has_key(struct gen *g, struct node *n)
{
	return gen_map_has(g, n->list[0]);
}

struct ir_val gen_in_map(struct gen *g, struct node *n)
{
	return gen_map_pinned(g, n->list[0]->s, gen_word(g, n->list[1]));
}

struct val gen_call(struct gen *g, struct node *n)
{
	const struct lang_function *f = n->func;

	if (f->statement) {
		f->statement(g, n);
		return gen_val(IR_IMM(0));
	}
	if (f->into) {
		struct place p = gen_memory(g, lt_stored(n->type));

		f->into(g, n, p, n->type);
		return gen_val_at(p);
	}
	if (lt_is_stack(n->type))
		return gen_stack_id(g, n->type);
	return gen_val(f->word ? f->word(g, n) : gen_word(g, n->list[0]));
}

void gen_call_into(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	if (n->func->into)
		n->func->into(g, n, p, to);
	else
		gen_put(g, gen_call(g, n), n->type, p, to);
}
