/* SPDX-License-Identifier: MIT */
/*
 * The code of one function before it is BPF: instructions over any number of
 * 64-bit virtual registers, with labels.
 *
 * Temporaries are assigned once; variables and joins may be assigned in several
 * places, which liveness takes into account. The builders fold constants.
 */
#pragma once

#include <linux/bpf.h>

#include "base/str.h"
#include "base/vec.h"

enum ir_op {
	IR_NOP,
	IR_CTX,	  /* dst = the context: first of all */
	IR_PARAM, /* dst = argument `off` of a callback: likewise */
	IR_MOV,	  /* dst = a */
	IR_ALU,	  /* dst = a sub b; sub: BPF_ADD ... */
	IR_NEG,
	IR_SWAP, /* dst = a with its `size` bytes reversed */
	IR_SET,	 /* dst = a sub b ? 1 : 0; sub: BPF_JEQ ... */
	IR_LD,	 /* dst = size bytes at a + off */
	IR_ST,	 /* size bytes at a + off = b */
	IR_XADD, /* the 8 bytes at a + off += b */
	IR_CALL, /* dst = helper sub32(arg...) */
	IR_LABEL,
	IR_JMP,
	IR_JCC,	     /* if (a sub b) goto label */
	IR_MAY_GOTO, /* leave the loop when it ran too long */
	IR_RET,	     /* return a */
};

enum ir_kind {
	IV_NONE,
	IV_REG,
	IV_IMM,
	IV_FP,	 /* the stack: address v (negative) from its top */
	IV_MAP,	 /* v: the map's index */
	IV_FUNC, /* v: the callback's index */
};

struct ir_val {
	enum ir_kind kind;
	int64_t v;
};

#define IR_IMM(x) ((struct ir_val){ IV_IMM, (int64_t)(x) })
#define IR_REG(x) ((struct ir_val){ IV_REG, (x) })
#define IR_STACK(x) ((struct ir_val){ IV_FP, (x) })
#define IR_MAPREF(x) ((struct ir_val){ IV_MAP, (x) })

struct ir_ins {
	uint8_t op, sub, size;
	bool dead;
	int dst; /* -1: none */
	struct ir_val a, b;
	int32_t off;
	int label;
	int helper;
	unsigned n_args;
	struct ir_val arg[5];
	uint32_t pos;
};

struct ir_func {
	VEC(struct ir_ins) ins;
	int n_regs, n_labels;
	uint32_t pos;	/* in the source, of what is added next */
	uint32_t stack; /* bytes of memory, below which spills go */
	bool is_callback;
};

int ir_reg(struct ir_func *f);
int ir_label(struct ir_func *f);
struct ir_ins *ir_add(struct ir_func *f, enum ir_op op);
void ir_place_label(struct ir_func *f, int label);
void ir_jump(struct ir_func *f, int label);
void ir_branch(struct ir_func *f, int cc, struct ir_val a, struct ir_val b, int label);
struct ir_val ir_unary(struct ir_func *f, enum ir_op op, struct ir_val a, unsigned size);
/* Argument n of a callback. */
struct ir_val ir_param(struct ir_func *f, int n);
struct ir_val ir_alu(struct ir_func *f, int op, struct ir_val a, struct ir_val b);
struct ir_val ir_set(struct ir_func *f, int cc, struct ir_val a, struct ir_val b);
struct ir_val ir_load(struct ir_func *f, unsigned size, struct ir_val base, int32_t off);
void ir_store(struct ir_func *f, unsigned size, struct ir_val base, int32_t off, struct ir_val v);
void ir_xadd(struct ir_func *f, struct ir_val base, int32_t off, struct ir_val v);
void ir_move(struct ir_func *f, int dst, struct ir_val v);
struct ir_val ir_copy(struct ir_func *f, struct ir_val v); /* into a register of its own */
struct ir_val ir_call(struct ir_func *f, int helper, unsigned n, ...); /* struct ir_val each */
void ir_ret(struct ir_func *f, struct ir_val v);
/* Keep the low `size` bytes, with or without their sign. */
struct ir_val ir_extend(struct ir_func *f, struct ir_val v, unsigned size, bool is_signed);
void ir_free(struct ir_func *f);
void ir_dump(const struct ir_func *f, struct strbuf *b);
/* A function of the kernel by its name, in listings. */
void list_helper(struct strbuf *b, int helper);
const char *list_helper_name(int helper); /* NULL: it is not known */

int ir_cc_not(int cc); /* the opposite of a condition */
/* What the instructions do; cc and op as BPF has them: BPF_JEQ, BPF_ADD ... */
static inline bool ir_holds(unsigned cc, uint64_t a, uint64_t b)
{
	switch (cc) {
	case BPF_JEQ: return a == b;
	case BPF_JNE: return a != b;
	case BPF_JGT: return a > b;
	case BPF_JGE: return a >= b;
	case BPF_JLT: return a < b;
	case BPF_JLE: return a <= b;
	case BPF_JSGT: return (int64_t)a > (int64_t)b;
	case BPF_JSGE: return (int64_t)a >= (int64_t)b;
	case BPF_JSLT: return (int64_t)a < (int64_t)b;
	case BPF_JSLE: return (int64_t)a <= (int64_t)b;
	default: return (a & b) != 0;
	}
}

static inline uint64_t ir_compute(unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD: return a + b;
	case BPF_SUB: return a - b;
	case BPF_MUL: return a * b;
	case BPF_DIV: return b ? a / b : 0;
	case BPF_MOD: return b ? a % b : a;
	case BPF_OR: return a | b;
	case BPF_AND: return a & b;
	case BPF_XOR: return a ^ b;
	case BPF_LSH: return a << (b & 63);
	case BPF_RSH: return a >> (b & 63);
	case BPF_ARSH: return (uint64_t)((int64_t)a >> (b & 63));
	case BPF_NEG: return -a;
	default: return b;
	}
}

/* Drop what cannot be reached and what nobody reads. */
void ir_clean(struct ir_func *f);

/*
 * To BPF instructions: f[0] is the program, the others its callbacks. Fills insn, line and func of
 * c from the arena. -E2BIG when the stack or a jump is too large.
 */
struct arena;
struct lang_code;
struct err;
int emit_code(struct ir_func **f, size_t n, struct arena *a, struct lang_code *c, struct err *e);

/* Where each virtual register lives: 1-9, or -1 and a stack slot. */
struct ir_place {
	int reg;
	int32_t slot;
};
/* Returns the deepest byte of the stack in use (positive); place has n_regs entries. */
uint32_t ir_allocate(struct ir_func *f, struct ir_place *place);
