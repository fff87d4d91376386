/* SPDX-License-Identifier: MIT */
/* Builtins: what the kernel says about the moment a probe is hit. */
#include <string.h>

#include "lang/gen/gen.h"

#if defined(__x86_64__)
static const struct {
	const char *name;
	uint32_t off;
} registers[] = {
	{ "r15", 0 },	    { "r14", 8 },  { "r13", 16 }, { "r12", 24 },    { "bp", 32 },
	{ "bx", 40 },	    { "r11", 48 }, { "r10", 56 }, { "r9", 64 },	    { "r8", 72 },
	{ "ax", 80 },	    { "cx", 88 },  { "dx", 96 },  { "si", 104 },    { "di", 112 },
	{ "orig_ax", 120 }, { "ip", 128 }, { "cs", 136 }, { "flags", 144 }, { "sp", 152 },
	{ "ss", 160 },
};
static const uint32_t args_at[] = { 112, 104, 96, 88, 72, 64 },
		      syscall_at[] = { 112, 104, 96, 56, 72, 64 };
#	define RET_AT 80
#	define SP_AT 152
#	define IP_AT 128
#	define SYSCALL_NR_AT 120
#	define SYSCALL_NR_SIZE 8
#	define STACK_ARGS 1 /* behind the return address */
/* What says that it was user space: some bits of cs, or of pstate, have this value. */
#	define MODE_AT 136
#	define MODE_BITS 3
#	define MODE_USER 3
#elif defined(__aarch64__)
static const struct {
	const char *name;
	uint32_t off;
} registers[] = {
	{ "r0", 0 },	{ "r1", 8 },	{ "r2", 16 },	{ "r3", 24 },	   { "r4", 32 },
	{ "r5", 40 },	{ "r6", 48 },	{ "r7", 56 },	{ "r8", 64 },	   { "r9", 72 },
	{ "r10", 80 },	{ "r11", 88 },	{ "r12", 96 },	{ "r13", 104 },	   { "r14", 112 },
	{ "r15", 120 }, { "r16", 128 }, { "r17", 136 }, { "r18", 144 },	   { "r19", 152 },
	{ "r20", 160 }, { "r21", 168 }, { "r22", 176 }, { "r23", 184 },	   { "r24", 192 },
	{ "r25", 200 }, { "r26", 208 }, { "r27", 216 }, { "r28", 224 },	   { "r29", 232 },
	{ "r30", 240 }, { "sp", 248 },	{ "pc", 256 },	{ "pstate", 264 },
};
static const uint32_t args_at[] = { 0, 8, 16, 24, 32, 40, 48, 56 },
		      syscall_at[] = { 272, 8, 16, 24, 32, 40 };
#	define RET_AT 0
#	define SP_AT 248
#	define IP_AT 256
#	define SYSCALL_NR_AT 280
#	define SYSCALL_NR_SIZE 4
#	define STACK_ARGS 0
#	define MODE_AT 264
#	define MODE_BITS 15
#	define MODE_USER 0
#else
#	error "registers of this architecture are not known"
#endif

int gen_register(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
		if (strcmp(registers[i].name, name) == 0)
			return (int)registers[i].off;
	return -1;
}

struct ir_val gen_ip(struct gen *g)
{
	return ir_load(g->f, 8, g->ctx, IP_AT);
}

struct ir_val gen_high32(struct gen *g, int helper)
{
	return ir_alu(g->f, BPF_RSH, ir_call(g->f, helper, 0), IR_IMM(32));
}

static struct ir_val gen_low32(struct gen *g, int helper)
{
	return ir_extend(g->f, ir_call(g->f, helper, 0), 4, false);
}

static struct ir_val stack_arg(struct gen *g, int64_t n)
{
	struct ir_val sp = ir_load(g->f, 8, g->ctx, SP_AT);

	return gen_load(g,
			(struct ref){ sp, (int32_t)((n + STACK_ARGS) * 8),
				      lang_kinds[g->point->kind].flags & LANG_KIND_USER
					      ? LS_USER
					      : LS_KERNEL },
			8, false);
}

static struct ir_val usdt_arg(struct gen *g, int64_t n)
{
	struct lang_usdt_arg a[16];
	int k = g->env->usdt_args ? g->env->usdt_args(g->env->ctx, g->point, a, ARRAY_SIZE(a)) : 0;
	const struct lang_usdt_arg *x = &a[n];
	unsigned size;
	struct ir_val v;

	if (n >= k)
		return IR_IMM(0);
	size = (unsigned)(x->size < 0 ? -x->size : x->size);
	if (x->kind == 0)
		return ir_extend(g->f, IR_IMM(x->value), size ? size : 8, x->size < 0);
	v = ir_load(g->f, 8, g->ctx, x->reg_off);
	if (x->kind == 2) {
		if (x->index_off >= 0)
			v = ir_alu(g->f, BPF_ADD, v,
				   ir_alu(g->f, BPF_MUL, ir_load(g->f, 8, g->ctx, x->index_off),
					  IR_IMM(x->scale)));
		v = ir_alu(g->f, BPF_ADD, v, IR_IMM(x->value));
		return gen_load(g, (struct ref){ v, 0, LS_USER }, size ? size : 8, x->size < 0);
	}
	return ir_extend(g->f, v, size ? size : 8, x->size < 0);
}

static struct ir_val gen_builtin_arg(struct gen *g, int64_t n)
{
	switch (g->point->kind) {
	case LP_RAWTP:
	case LP_FENTRY:
	case LP_FEXIT: return ir_load(g->f, 8, g->ctx, (int32_t)n * 8);
	case LP_USDT: return usdt_arg(g, n);
	default: break;
	}
	if ((size_t)n < ARRAY_SIZE(args_at))
		return ir_load(g->f, 8, g->ctx, (int32_t)args_at[n]);
	return stack_arg(g, n - (int64_t)ARRAY_SIZE(args_at));
}

static struct ir_val syscall_arg(struct gen *g, struct ir_val i)
{
	struct ir_val regs = ir_load(g->f, 8, g->ctx, 0);

	if (i.kind != IV_IMM || (uint64_t)i.v >= ARRAY_SIZE(syscall_at))
		return IR_IMM(0);
	return gen_load(g, (struct ref){ regs, (int32_t)syscall_at[i.v], LS_KERNEL }, 8, false);
}

static struct ir_val syscall_number(struct gen *g)
{
	struct ir_val regs;

	if (!g->is_exit)
		return ir_load(g->f, 8, g->ctx, 8);
	regs = ir_load(g->f, 8, g->ctx, 0);
	return gen_load(g, (struct ref){ regs, SYSCALL_NR_AT, LS_KERNEL }, SYSCALL_NR_SIZE, true);
}

/* What is kept of a word whose type says so. */
static struct ir_val gen_as_type(struct gen *g, struct ir_val v, const struct ltype *t)
{
	return t->kind == LT_INT ? ir_extend(g->f, v, t->size, t->is_signed) : v;
}

/* A field of a tracepoint that is served by a raw one, or an argument that is a slot of the
 * context. */
struct val gen_args_field(struct gen *g, struct node *n)
{
	const char *name = (n->kind == N_INDEX ? n->a : n)->s;

	if (g->point->kind != LP_TRACEPOINT)
		return gen_val(gen_as_type(g,
					   g->point->kind == LP_UPROBE
						   ? gen_builtin_arg(g, n->offset / 8)
						   : ir_load(g->f, 8, g->ctx, (int32_t)n->offset),
					   n->type));
	if (n->kind == N_INDEX)
		return gen_val(syscall_arg(g, gen_word(g, n->b)));
	if (strcmp(name, "id") == 0 || strcmp(name, "__syscall_nr") == 0)
		return gen_val(syscall_number(g));
	return gen_val(g->is_exit ? ir_load(g->f, 8, g->ctx, 8)
				  : syscall_arg(g, IR_IMM(((int64_t)n->offset - 16) / 8)));
}

/* All arguments, copied into a record of the program's own. */
static struct val whole_args(struct gen *g, const struct ltype *t)
{
	struct place p = gen_memory(g, lt_stored(t));

	if (g->point->kind == LP_TRACEPOINT) {
		gen_zero(g, p, lt_stored(t));
		gen_read(g, (struct ref){ g->ctx, 0, LS_KERNEL }, p, IR_IMM(t->size));
	}
	for (uint32_t i = 0; i < t->size && g->point->kind != LP_TRACEPOINT; i += 8)
		ir_store(g->f, 8, p.base, p.off + (int32_t)i, gen_builtin_arg(g, i / 8));
	return gen_val(gen_addr(g, p));
}

static struct ir_val gen_builtin_elapsed(struct gen *g)
{
	struct place key = gen_stack(g, 8);
	struct ir_val now = ir_call(g->f, BPF_FUNC_ktime_get_boot_ns, 0), r = ir_copy(g->f, now), p;
	int none = ir_label(g->f);

	ir_store(g->f, 8, key.base, key.off, IR_IMM(LANG_INFO_START));
	p = gen_lookup(g, LANG_MAP_INFO, key);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	ir_move(g->f, (int)r.v, ir_alu(g->f, BPF_SUB, now, ir_load(g->f, 8, p, 0)));
	ir_place_label(g->f, none);
	return r;
}

static struct val gen_builtin_text(struct gen *g, const char *s, const struct ltype *t)
{
	struct node n = { .kind = N_STR, .s = s, .slen = strlen(s), .type = t };
	struct place p = gen_memory(g, lt_stored(t));

	gen_into(g, &n, p, t);
	return gen_val_at(p);
}

static struct val gen_builtin_func(struct gen *g, struct node *n)
{
	struct ir_val ip;
	struct place p;

	if (n->type->kind == LT_STRING)
		return gen_builtin_text(g, g->point->name, n->type);
	if (n->type->kind != LT_USYM)
		return gen_val(g->point->kind == LP_PROFILE
				       ? gen_ip(g)
				       : ir_call(g->f, BPF_FUNC_get_func_ip, 1, g->ctx));
	g->p->uses_usym = true;
	ip = gen_ip(g);
	p = gen_memory(g, 16);
	ir_store(g->f, 8, p.base, p.off, ip);
	ir_store(g->f, 8, p.base, p.off + 8, gen_high32(g, BPF_FUNC_get_current_pid_tgid));
	return gen_val_at(p);
}

static struct val gen_builtin_comm(struct gen *g)
{
	struct place p = gen_memory(g, 16);

	gen_comm(g, p, 16);
	return gen_val_at(p);
}

/* Builtins that are one word. */
static struct ir_val gen_builtin_word(struct gen *g, const struct node *n)
{
	switch ((enum builtin)n->id) {
	case B_ARGS:
	case B_CTX: return g->ctx;
	case B_ARG: return gen_builtin_arg(g, n->v);
	case B_SARG: return stack_arg(g, n->v);
	case B_HELPER: return ir_call(g->f, (int)n->v, 0);
	case B_HELPER_HIGH: return gen_high32(g, (int)n->v);
	case B_HELPER_LOW: return gen_low32(g, (int)n->v);
	case B_CURTASK: return ir_call(g->f, BPF_FUNC_get_current_task, 0);
	case B_ELAPSED: return gen_builtin_elapsed(g);
	case B_USERNAME: return gen_low32(g, BPF_FUNC_get_current_uid_gid);
	case B_PID: return gen_high32(g, BPF_FUNC_get_current_pid_tgid);
	case B_TID: return gen_low32(g, BPF_FUNC_get_current_pid_tgid);
	case B_PROBE: return g->probe;
	case B_RETVAL:
		if (g->point->kind != LP_FEXIT)
			return ir_load(g->f, 8, g->ctx, RET_AT);
		return gen_as_type(g, ir_load(g->f, 8, g->ctx, (int32_t)n->offset), n->type);
	case B_USERMODE:
		return ir_set(
			g->f, BPF_JEQ,
			ir_alu(g->f, BPF_AND, ir_load(g->f, 8, g->ctx, MODE_AT), IR_IMM(MODE_BITS)),
			IR_IMM(MODE_USER));
	default: return IR_IMM(n->v);
	}
}

struct val gen_builtin(struct gen *g, struct node *n)
{
	switch ((enum builtin)n->id) {
	case B_COMM: return gen_builtin_comm(g);
	case B_FUNC: return gen_builtin_func(g, n);
	case B_KSTACK:
	case B_USTACK: return gen_stack_id(g, n->type);
	case B_PROBETYPE: return gen_builtin_text(g, lang_kind_name[g->point->kind], n->type);
	default:
		return n->id == B_ARGS && n->type->kind == LT_RECORD
			       ? whole_args(g, n->type)
			       : gen_val(gen_builtin_word(g, n));
	}
}
