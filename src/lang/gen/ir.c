/* SPDX-License-Identifier: MIT */
#include "lang/gen/ir.h"

int ir_reg(struct ir_func *f)
{
	return f->n_regs++;
}

int ir_label(struct ir_func *f)
{
	return f->n_labels++;
}

struct ir_ins *ir_add(struct ir_func *f, enum ir_op op)
{
	struct ir_ins *i = vec_add(&f->ins);

	i->op = (uint8_t)op;
	i->dst = -1;
	i->label = -1;
	i->pos = f->pos;
	return i;
}

void ir_place_label(struct ir_func *f, int label)
{
	ir_add(f, IR_LABEL)->label = label;
}

void ir_jump(struct ir_func *f, int label)
{
	ir_add(f, IR_JMP)->label = label;
}

/* Conditions by BPF's number of them: the opposite, and the same with sides exchanged. */
static const uint8_t cc_not[16] = {
	[BPF_JEQ >> 4] = BPF_JNE,   [BPF_JNE >> 4] = BPF_JEQ,	[BPF_JGT >> 4] = BPF_JLE,
	[BPF_JLE >> 4] = BPF_JGT,   [BPF_JLT >> 4] = BPF_JGE,	[BPF_JGE >> 4] = BPF_JLT,
	[BPF_JSGT >> 4] = BPF_JSLE, [BPF_JSLE >> 4] = BPF_JSGT, [BPF_JSLT >> 4] = BPF_JSGE,
	[BPF_JSGE >> 4] = BPF_JSLT,
};
static const uint8_t cc_swap[16] = {
	[BPF_JEQ >> 4] = BPF_JEQ,   [BPF_JNE >> 4] = BPF_JNE,	[BPF_JGT >> 4] = BPF_JLT,
	[BPF_JLE >> 4] = BPF_JGE,   [BPF_JLT >> 4] = BPF_JGT,	[BPF_JGE >> 4] = BPF_JLE,
	[BPF_JSGT >> 4] = BPF_JSLT, [BPF_JSLE >> 4] = BPF_JSGE, [BPF_JSLT >> 4] = BPF_JSGT,
	[BPF_JSGE >> 4] = BPF_JSLE,
};

int ir_cc_not(int cc)
{
	return cc_not[cc >> 4];
}

/* What is compared with a number stands first, as BPF wants it; returns how to compare then. */
static int number_behind(int cc, struct ir_val *a, struct ir_val *b)
{
	struct ir_val t = *a;

	if (a->kind != IV_IMM)
		return cc;
	*a = *b;
	*b = t;
	return cc_swap[cc >> 4];
}

void ir_branch(struct ir_func *f, int cc, struct ir_val a, struct ir_val b, int label)
{
	struct ir_ins *i;

	if (a.kind == IV_IMM && b.kind == IV_IMM) {
		if (ir_holds((unsigned)cc, (uint64_t)a.v, (uint64_t)b.v))
			ir_jump(f, label);
		return;
	}
	cc = number_behind(cc, &a, &b);
	i = ir_add(f, IR_JCC);
	i->sub = (uint8_t)cc;
	i->a = a;
	i->b = b;
	i->label = label;
}

struct ir_val ir_unary(struct ir_func *f, enum ir_op op, struct ir_val a, unsigned size)
{
	struct ir_ins *i = ir_add(f, op);

	i->a = a;
	i->size = (uint8_t)size;
	i->dst = ir_reg(f);
	return IR_REG(i->dst);
}

/* a and b into a new register. */
static struct ir_val ir_binary(struct ir_func *f, enum ir_op op, int sub, struct ir_val a,
			       struct ir_val b)
{
	struct ir_ins *i = ir_add(f, op);

	i->sub = (uint8_t)sub;
	i->a = a;
	i->b = b;
	i->dst = ir_reg(f);
	return IR_REG(i->dst);
}

struct ir_val ir_alu(struct ir_func *f, int op, struct ir_val a, struct ir_val b)
{
	if (a.kind == IV_IMM && b.kind == IV_IMM)
		return IR_IMM(ir_compute((unsigned)op, (uint64_t)a.v, (uint64_t)b.v));
	if (a.kind == IV_IMM &&
	    (op == BPF_ADD || op == BPF_MUL || op == BPF_AND || op == BPF_OR || op == BPF_XOR)) {
		struct ir_val t = a;

		a = b;
		b = t;
	}
	if (a.kind == IV_FP && b.kind == IV_IMM && op == BPF_ADD)
		return IR_STACK(a.v + b.v);
	if (b.kind == IV_IMM) {
		bool power = b.v > 0 && (b.v & (b.v - 1)) == 0;

		if (b.v == 0 && (op == BPF_ADD || op == BPF_SUB || op == BPF_OR || op == BPF_XOR ||
				 op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH))
			return a;
		if (b.v == 0 && (op == BPF_MUL || op == BPF_AND || op == BPF_DIV))
			return IR_IMM(0);
		if (b.v == 0 && op == BPF_MOD)
			return a;
		if (b.v == 1 && (op == BPF_MUL || op == BPF_DIV))
			return a;
		if (power && (op == BPF_MUL || op == BPF_DIV)) {
			op = op == BPF_MUL ? BPF_LSH : BPF_RSH;
			b = IR_IMM(__builtin_ctzll((uint64_t)b.v));
		} else if (power && op == BPF_MOD) {
			op = BPF_AND;
			b = IR_IMM(b.v - 1);
		}
		if (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH)
			b.v &= 63;
	}
	return ir_binary(f, IR_ALU, op, a, b);
}

struct ir_val ir_set(struct ir_func *f, int cc, struct ir_val a, struct ir_val b)
{
	if (a.kind == IV_IMM && b.kind == IV_IMM)
		return IR_IMM(ir_holds((unsigned)cc, (uint64_t)a.v, (uint64_t)b.v));
	cc = number_behind(cc, &a, &b);
	return ir_binary(f, IR_SET, cc, a, b);
}

struct ir_val ir_param(struct ir_func *f, int n)
{
	struct ir_ins *i = ir_add(f, IR_PARAM);

	i->off = n;
	i->dst = ir_reg(f);
	return IR_REG(i->dst);
}

struct ir_val ir_load(struct ir_func *f, unsigned size, struct ir_val base, int32_t off)
{
	struct ir_ins *i = ir_add(f, IR_LD);

	i->size = (uint8_t)size;
	i->a = base;
	i->off = off;
	i->dst = ir_reg(f);
	return IR_REG(i->dst);
}

void ir_store(struct ir_func *f, unsigned size, struct ir_val base, int32_t off, struct ir_val v)
{
	struct ir_ins *i = ir_add(f, IR_ST);

	i->size = (uint8_t)size;
	i->a = base;
	i->off = off;
	i->b = v;
}

void ir_xadd(struct ir_func *f, struct ir_val base, int32_t off, struct ir_val v)
{
	ir_store(f, 8, base, off, v);
	f->ins.data[f->ins.n - 1].op = IR_XADD;
}

void ir_move(struct ir_func *f, int dst, struct ir_val v)
{
	struct ir_ins *i = ir_add(f, IR_MOV);

	i->a = v;
	i->dst = dst;
}

struct ir_val ir_copy(struct ir_func *f, struct ir_val v)
{
	int r = ir_reg(f);

	ir_move(f, r, v);
	return IR_REG(r);
}

struct ir_val ir_call(struct ir_func *f, int helper, unsigned n, ...)
{
	int dst = ir_reg(f);
	struct ir_ins *i = ir_add(f, IR_CALL);
	va_list ap;

	i->helper = helper;
	i->n_args = n;
	i->dst = dst;
	va_start(ap, n);
	for (unsigned k = 0; k < n; k++)
		i->arg[k] = va_arg(ap, struct ir_val);
	va_end(ap);
	return IR_REG(dst);
}

void ir_ret(struct ir_func *f, struct ir_val v)
{
	ir_add(f, IR_RET)->a = v;
}

struct ir_val ir_extend(struct ir_func *f, struct ir_val v, unsigned size, bool is_signed)
{
	unsigned bits = 64 - size * 8;

	if (size >= 8)
		return v;
	if (!is_signed && size < 4)
		return ir_alu(f, BPF_AND, v, IR_IMM((1ll << (size * 8)) - 1));
	return ir_alu(f, is_signed ? BPF_ARSH : BPF_RSH, ir_alu(f, BPF_LSH, v, IR_IMM(bits)),
		      IR_IMM(bits));
}

void ir_free(struct ir_func *f)
{
	vec_free(&f->ins);
}

static void dump_val(struct ir_val v, struct strbuf *b)
{
	switch (v.kind) {
	case IV_NONE: strbuf_puts(b, "-"); break;
	case IV_REG: strbuf_printf(b, "%%%lld", (long long)v.v); break;
	case IV_IMM: strbuf_printf(b, "%lld", (long long)v.v); break;
	case IV_FP: strbuf_printf(b, "fp%+lld", (long long)v.v); break;
	case IV_MAP: strbuf_printf(b, "map[%lld]", (long long)v.v); break;
	case IV_FUNC: strbuf_printf(b, "func[%lld]", (long long)v.v); break;
	}
}

static const char *alu_name(int op)
{
	static const char *const names[] = { "add", "sub", "mul", "div", "or",	"and", "lsh",
					     "rsh", "neg", "mod", "xor", "mov", "arsh" };

	return (unsigned)op >> 4 < ARRAY_SIZE(names) ? names[op >> 4] : "?";
}

static const char *cc_name(int cc)
{
	static const char *const names[] = { "",    "eq", "ugt", "uge", "set", "ne",  "sgt",
					     "sge", "",	  "",	 "ult", "ule", "slt", "sle" };

	return (unsigned)cc >> 4 < ARRAY_SIZE(names) ? names[cc >> 4] : "?";
}

void ir_dump(const struct ir_func *f, struct strbuf *b)
{
	static const char *const names[] = { "nop",  "ctx", "param", "mov",	 "",	 "neg",
					     "swap", "",    "load",  "store",	 "xadd", "call",
					     "",     "jmp", "",	     "may_goto", "ret" };

	vec_each (&f->ins, i) {
		if (i->op == IR_NOP || i->dead)
			continue;
		if (i->op == IR_LABEL) {
			strbuf_printf(b, "L%d:\n", i->label);
			continue;
		}
		strbuf_puts(b, "\t");
		if (i->dst >= 0)
			strbuf_printf(b, "%%%d = ", i->dst);
		if (i->op == IR_ALU)
			strbuf_puts(b, alu_name(i->sub));
		else if (i->op == IR_SET || i->op == IR_JCC)
			strbuf_printf(b, "%s%s", i->op == IR_SET ? "" : "if ", cc_name(i->sub));
		else
			strbuf_puts(b, names[i->op]);
		if (i->op == IR_LD || i->op == IR_ST)
			strbuf_printf(b, "%u", i->size * 8);
		if (i->op == IR_CALL) {
			strbuf_putc(b, ' ');
			list_helper(b, i->helper);
		}
		for (unsigned k = 0; k < i->n_args; k++) {
			strbuf_puts(b, k ? ", " : " ");
			dump_val(i->arg[k], b);
		}
		if (i->a.kind) {
			strbuf_putc(b, ' ');
			dump_val(i->a, b);
			if (i->off)
				strbuf_printf(b, "%+d", i->off);
		}
		if (i->b.kind) {
			strbuf_puts(b, ", ");
			dump_val(i->b, b);
		}
		if (i->label >= 0)
			strbuf_printf(b, " L%d", i->label);
		strbuf_putc(b, '\n');
	}
}
