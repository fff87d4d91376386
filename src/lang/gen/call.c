/* SPDX-License-Identifier: MIT */
/* Functions. */
#include <arpa/inet.h>
#include <string.h>

#include "lang/gen/gen.h"

#define JOIN_ARGS 16
#define JOIN_SIZE 256

static struct ir_val call0(struct gen *g, int helper)
{
	return ir_call(g->f, helper, 0);
}

/* Length in front, then the bytes. */
static void buf_into(struct gen *g, struct node *n, struct place p)
{
	struct node *a = n->list[0];
	uint32_t max = n->type->size - 8;
	struct ir_val len = IR_IMM(max);
	struct ref r;

	gen_zero(g, gen_at(p, 8), (max + 7) & ~7u);
	if (n->n > 1) {
		int ok = ir_label(g->f);

		len = gen_word(g, n->list[1]);
		if (len.kind != IV_IMM) {
			len = ir_copy(g->f, len);
			ir_branch(g->f, BPF_JLE, len, IR_IMM(max), ok);
			ir_move(g->f, (int)len.v, IR_IMM(max));
			ir_place_label(g->f, ok);
		} else if ((uint64_t)len.v > max) {
			len = IR_IMM(max);
		}
	}
	if (a->type->kind == LT_STRING && a->type->space == LS_BPF) {
		struct val v = gen_expr(g, a);

		r = (struct ref){ gen_addr(g, v.m), 0, LS_KERNEL };
	} else if (a->type->kind == LT_ARRAY || a->type->kind == LT_STRING) {
		r = gen_ref(g, a);
		r.space = r.space == LS_BPF || r.space == LS_CTX ? LS_KERNEL : r.space;
	} else {
		r = (struct ref){ gen_word(g, a), 0,
				  a->type->kind == LT_PTR ? a->type->space : check_space(g->c) };
	}
	ir_store(g->f, 8, p.base, p.off, len);
	if (len.kind != IV_IMM || len.v)
		ir_call(g->f,
			r.space == LS_USER  ? BPF_FUNC_probe_read_user
			: r.space == LS_ANY ? BPF_FUNC_probe_read
					    : BPF_FUNC_probe_read_kernel,
			3, gen_addr(g, gen_at(p, 8)), len,
			ir_alu(g->f, BPF_ADD, r.base, IR_IMM(r.off)));
}

static void str_into(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct node *a = n->list[0];
	uint32_t max = n->type->size < to->size ? n->type->size : to->size;
	struct ir_val size = IR_IMM(max), addr;

	if (a->type->kind == LT_STRING && n->n == 1) {
		gen_into(g, a, p, to);
		return;
	}
	gen_zero(g, p, lt_stored(to));
	if (n->n > 1) {
		struct ir_val v = gen_word(g, n->list[1]);

		if (v.kind == IV_IMM) {
			size = IR_IMM((uint64_t)v.v + 1 < max ? v.v + 1 : max);
		} else { /* one more for the NUL, at most max */
			int ok = ir_label(g->f);

			size = ir_copy(g->f, ir_alu(g->f, BPF_ADD, v, IR_IMM(1)));
			ir_branch(g->f, BPF_JLE, size, IR_IMM(max), ok);
			ir_move(g->f, (int)size.v, IR_IMM(max));
			ir_place_label(g->f, ok);
		}
	}
	if (a->type->kind == LT_STRING) { /* str("text", n) */
		struct val v = gen_expr(g, a);

		gen_read_str(g, (struct ref){ gen_addr(g, v.m), 0, LS_KERNEL }, p, size);
		return;
	}
	addr = gen_word(g, a);
	gen_read_str(
		g,
		(struct ref){ addr, 0,
			      a->type->kind == LT_PTR || a->type->kind == LT_ARRAY
				      ? (a->type->space == LS_CTX || a->type->space == LS_TRUSTED ||
							 a->type->space == LS_BPF
						 ? LS_KERNEL
						 : a->type->space)
				      : check_space(g->c) },
		p, size);
}

static void ntop_into(struct gen *g, struct node *n, struct place p)
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
		struct ref r = gen_ref(g, a);

		if (r.space == LS_BPF || r.space == LS_CTX)
			r.space = LS_KERNEL;
		gen_read(g, r, gen_at(p, 8), IR_IMM(t->size));
	}
	ir_store(g->f, 8, p.base, p.off, family);
}

void gen_call_into(struct gen *g, struct node *n, struct place p, const struct ltype *to)
{
	struct ir_val v;

	switch (n->id) {
	case F_STR: str_into(g, n, p, to); break;
	case F_BUF:
		buf_into(g, n, p);
		if (lt_stored(to) > lt_stored(n->type))
			gen_zero(g, gen_at(p, lt_stored(n->type)),
				 lt_stored(to) - lt_stored(n->type));
		break;
	case F_NTOP: ntop_into(g, n, p); break;
	case F_MACADDR: {
		struct ref r = gen_ref(g, n->list[0]);

		if (r.space == LS_BPF || r.space == LS_CTX)
			r.space = LS_KERNEL;
		gen_zero(g, p, 8);
		gen_read(g, r, p, IR_IMM(6));
		break;
	}
	case F_USYM:
		g->p->uses_usym = true;
		v = gen_word(g, n->list[0]);
		ir_store(g->f, 8, p.base, p.off, v);
		ir_store(
			g->f, 8, p.base, p.off + 8,
			ir_alu(g->f, BPF_RSH, call0(g, BPF_FUNC_get_current_pid_tgid), IR_IMM(32)));
		break;
	case F_PATH:
		gen_zero(g, p, lt_stored(to));
		ir_call(g->f, BPF_FUNC_d_path, 3, gen_word(g, n->list[0]), gen_addr(g, p),
			IR_IMM(to->size));
		break;
	default: gen_put(g, gen_call(g, n), n->type, p, to);
	}
}

static struct lang_action action(struct gen *g, enum lang_act kind, const char *format)
{
	(void)g;
	return (struct lang_action){ .kind = kind, .format = format, .map = -1 };
}

static void gen_call_leave(struct gen *g)
{
	if (g->in_callback)
		ir_ret(g->f, IR_IMM(1));
	else
		ir_jump(g->f, g->exit_label);
}

static void printf_like(struct gen *g, struct node *n)
{
	static const struct {
		int func;
		enum lang_act act;
	} kinds[] = { { F_PRINTF, LA_PRINTF },
		      { F_ERRORF, LA_ERRORF },
		      { F_SYSTEM, LA_SYSTEM },
		      { F_CAT, LA_CAT },
		      { F_DEBUGF, LA_DEBUGF } };
	struct lang_action a = action(g, LA_PRINTF, n->list[0]->s);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].func == n->id)
			a.kind = kinds[i].act;
	gen_message(g, &a, n->list + 1, n->n - 1, a.kind != LA_PRINTF && a.kind != LA_DEBUGF);
}

static void print(struct gen *g, struct node *n)
{
	struct node *m = n->list[0];
	struct lang_action a = action(g, LA_PRINT, NULL);

	if (n->v) {
		a.kind = LA_PRINT_MAP;
		a.map = m->map;
		a.top = n->n > 1 ? n->list[1]->v : 0;
		a.div = n->n > 2 ? n->list[2]->v : 0;
		gen_message(g, &a, NULL, 0, true);
		return;
	}
	if (m->kind == N_MAP) { /* @x[key]: shown with its name and key */
		AUTO_STRBUF b = { 0 };
		struct node *args[32];
		size_t k = 0;

		strbuf_puts(&b, m->s);
		a.map_key_text = arena_strdup(&g->p->arena, strbuf_str(&b));
		a.map = m->map;
		args[k++] = m;
		for (size_t i = 0; i < m->n && k < ARRAY_SIZE(args); i++)
			args[k++] = m->list[i];
		gen_message(g, &a, args, k, false);
		return;
	}
	gen_message(g, &a, n->list, 1, false);
}

static void table(struct gen *g, struct node *n)
{
	struct lang_action a = action(g, LA_TABLE, n->list[1]->s);

	a.map = n->list[0]->map;
	a.top = n->n > 2 ? n->list[2]->v : 0;
	a.div = n->n > 3 ? n->list[3]->v : 0;
	gen_message(g, &a, NULL, 0, true);
}

static void histogram(struct gen *g, struct node *n)
{
	struct lang_action a = action(g, LA_HISTOGRAM, n->list[1]->s);

	a.map = n->list[0]->map;
	a.section = n->n > 2 ? n->list[2]->s : NULL;
	gen_message(g, &a, NULL, 0, true);
}

static void stacks(struct gen *g, struct node *n)
{
	struct lang_action a = action(g, LA_STACKS, NULL);

	a.map = n->list[0]->map;
	a.how = (int)n->v;
	gen_message(g, &a, NULL, 0, true);
}

static void gen_call_join(struct gen *g, struct node *n)
{
	struct lang_action a = action(g, LA_JOIN, n->n > 1 ? n->list[1]->s : " ");
	struct ir_val argv = gen_word(g, n->list[0]), p;
	const struct ltype *t = n->list[0]->type;
	enum lt_space space = t->kind == LT_PTR ? t->space : check_space(g->c);
	int end = ir_label(g->f), full = ir_label(g->f), out = ir_label(g->f);
	uint32_t id = (uint32_t)g->p->actions.n;

	a.size = 8 + JOIN_ARGS * JOIN_SIZE;
	g->p->uses_ring = g->p->prints = true;
	p = ir_copy(g->f, ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_RING),
				  IR_IMM(a.size), IR_IMM(0)));
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), full);
	ir_store(g->f, 4, p, 0, IR_IMM((int32_t)id));
	ir_store(g->f, 4, p, 4, IR_IMM(0));
	for (int i = 0; i < JOIN_ARGS; i++)
		ir_store(g->f, 8, p, 8 + i * JOIN_SIZE, IR_IMM(0));
	for (int i = 0; i < JOIN_ARGS; i++) {
		struct ir_val s = gen_load(g, (struct ref){ argv, i * 8, space }, 8, false);

		ir_branch(g->f, BPF_JEQ, s, IR_IMM(0), end);
		gen_read_str(g, (struct ref){ s, 0, space }, (struct place){ p, 8 + i * JOIN_SIZE },
			     IR_IMM(JOIN_SIZE));
	}
	ir_place_label(g->f, end);
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, p, IR_IMM(0));
	ir_jump(g->f, out);
	ir_place_label(g->f, full);
	gen_count(g, LANG_COUNT_LOST);
	ir_place_label(g->f, out);
	vec_push(&g->p->actions, a);
}

static void map_action(struct gen *g, struct node *n, enum lang_act kind)
{
	struct lang_action a = action(g, kind, NULL);

	a.map = n->list[0]->map;
	gen_message(g, &a, NULL, 0, true);
}

static struct ir_val swap(struct gen *g, struct node *n)
{
	struct ir_val v = gen_word(g, n->list[0]);
	struct ir_ins *i;

	if (n->type->size == 1)
		return v;
	i = ir_add(g->f, IR_SWAP);
	i->a = v;
	i->size = (uint8_t)n->type->size;
	i->dst = ir_reg(g->f);
	return IR_REG(i->dst);
}

/* 0 of a CPU that there is not. */
static struct ir_val per_cpu_address(struct gen *g, struct node *n)
{
	struct ir_val cpu =
		n->n > 1 ? gen_word(g, n->list[1]) : call0(g, BPF_FUNC_get_smp_processor_id);
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

static struct val pton(struct gen *g, struct node *n)
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
	return (struct val){ .v = gen_addr(g, p) };
}

static struct ir_val len(struct gen *g, struct node *n)
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
		struct val v = gen_expr(g, a);

		return ir_load(g->f, 8, v.m.base, v.m.off);
	}
	key = gen_stack(g, 16);
	gen_into(g, a, key, a->type);
	r = ir_copy(g->f, IR_IMM(0));
	none = ir_label(g->f);
	p = ir_call(g->f, BPF_FUNC_map_lookup_elem, 2, IR_MAPREF(LANG_MAP_STACKS),
		    gen_addr(g, key));
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_move(g->f, (int)r.v, ir_load(g->f, 8, p, 0));
	ir_place_label(g->f, none);
	return r;
}

static void assert_that(struct gen *g, struct node *n)
{
	struct lang_action a = action(
		g, LA_ERRORF,
		n->n > 1 ? arena_printf(&g->p->arena, "assertion failed: %s\n", n->list[1]->s)
			 : "assertion failed\n");
	struct lang_action b = action(g, LA_EXIT, NULL);
	struct node code = { .kind = N_INT,
			     .v = 1,
			     .folded = true,
			     .type = g->c->i64,
			     .pos = n->pos },
		    *list[1] = { &code };
	int ok = ir_label(g->f);

	gen_branch(g, n->list[0], true, ok);
	gen_message(g, &a, NULL, 0, true);
	gen_message(g, &b, list, 1, true);
	gen_call_leave(g);
	ir_place_label(g->f, ok);
}

static struct val value_call(struct gen *g, struct node *n)
{
	struct val v = { 0 };
	uint32_t off;
	int ok;

	switch (n->id) {
	case F_KSYM:
	case F_STRERROR:
	case F_SYSCALL_NAME:
	case F_SIGNAL_NAME:
	case F_CAP_NAME:
	case F_DISK_NAME:
	case F_CGROUP_PATH:
	case F_KPTR:
	case F_UPTR: v.v = gen_word(g, n->list[0]); break;
	case F_STRFTIME: v.v = gen_word(g, n->list[1]); break;
	case F_FILE_NUMBER: v.v = IR_IMM(n->v); break;
	case F_KSTACK:
	case F_USTACK: return gen_stack_id(g, n->type);
	case F_NSECS:
		v.v = n->v == 3 || n->v == 2 ? call0(g, BPF_FUNC_ktime_get_tai_ns)
		      : n->v == 0	     ? call0(g, BPF_FUNC_ktime_get_ns)
					     : call0(g, BPF_FUNC_ktime_get_boot_ns);
		break;
	case F_REG:
		off = gen_register_offset(n->list[0]->s, &ok);
		v.v = ok ? ir_load(g->f, 8, g->ctx, (int32_t)off) : IR_IMM(0);
		if (!ok)
			lang_error(g->c->d, n->pos, n->len, "this machine has no register '%s'",
				   n->list[0]->s);
		break;
	case F_UADDR:
		off = gen_register_offset("ip", &ok);
		if (!ok)
			off = gen_register_offset("pc", &ok);
		v.v = ir_alu(g->f, BPF_ADD, ir_load(g->f, 8, g->ctx, (int32_t)off), IR_IMM(n->v));
		break;
	case F_BSWAP: v.v = swap(g, n); break;
	case F_DELETE: v.v = gen_map_delete(g, n->list[0]); break;
	case F_HAS_KEY: v.v = gen_map_has(g, n->list[0]); break;
	case F_IN_MAP: v.v = gen_map_pinned(g, n->list[0]->s, gen_word(g, n->list[1])); break;
	case F_STRNCMP:
	case F_STRCONTAINS:
	case F_FIND:
	case F_STRSTR: v.v = gen_find(g, n); break;
	case F_STRMATCH: v.v = gen_match(g, n); break;
	case F_LEN: v.v = len(g, n); break;
	case F_PTON: return pton(g, n);
	case F_SKBOUTPUT: v.v = gen_skboutput(g, n); break;
	case F_PERCPU_KADDR: v.v = per_cpu_address(g, n); break;
	default: v.v = IR_IMM(0);
	}
	return v;
}

struct val gen_call(struct gen *g, struct node *n)
{
	struct lang_action a;
	struct val v = { 0 };

	if (n->type->kind != LT_VOID) {
		if (lt_is_word(n->type) || n->type->kind == LT_ARRAY || lt_is_stack(n->type))
			return value_call(g, n);
		v.mem = true;
		v.m = gen_memory(g, lt_stored(n->type));
		gen_call_into(g, n, v.m, n->type);
		return v;
	}
	v.v = IR_IMM(0);
	switch (n->id) {
	case F_PRINTF:
	case F_ERRORF:
	case F_DEBUGF:
	case F_SYSTEM:
	case F_CAT: printf_like(g, n); break;
	case F_PRINT: print(g, n); break;
	case F_TABLE: table(g, n); break;
	case F_HISTOGRAM: histogram(g, n); break;
	case F_STACKS: stacks(g, n); break;
	case F_CLEAR: map_action(g, n, LA_CLEAR); break;
	case F_ZERO: map_action(g, n, LA_ZERO); break;
	case F_TIME:
		a = action(g, LA_TIME, n->n ? n->list[0]->s : "%H:%M:%S\n");
		gen_message(g, &a, NULL, 0, true);
		break;
	case F_EXIT:
		a = action(g, LA_EXIT, NULL);
		gen_message(g, &a, n->list, n->n, true);
		gen_call_leave(g);
		break;
	case F_JOIN: gen_call_join(g, n); break;
	case F_ASSERT: assert_that(g, n); break;
	case F_SIGNAL:
		ir_call(g->f, BPF_FUNC_send_signal, 1,
			n->list[0]->folded ? IR_IMM(n->list[0]->v) : gen_word(g, n->list[0]));
		break;
	case F_OVERRIDE:
		ir_call(g->f, BPF_FUNC_override_return, 2, g->ctx, gen_word(g, n->list[0]));
		break;
	default: break;
	}
	return v;
}
