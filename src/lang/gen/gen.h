/* SPDX-License-Identifier: MIT */
/* From the checked tree to IR: what the files of the generator share. */
#pragma once

#include "lang/check/check.h"
#include "lang/gen/ir.h"

/* Memory of the program's own. */
struct place {
	struct ir_val base;
	int32_t off;
};

/* A word (or the address of a record or array) in v; everything else in m. */
struct val {
	bool mem;
	struct ir_val v;
	struct place m;
};

/* Memory anywhere. */
struct ref {
	struct ir_val base;
	int32_t off;
	enum lt_space space;
};

enum { VAR_UNSET, VAR_REG, VAR_MEM, VAR_FRAME };

/* In the frame of a program with loops: where their functions find the context, a zero that the
 * verifier does not know, and whether one of them has met a return. */
enum { FRAME_CTX = -8, FRAME_ZERO = -16, FRAME_LEFT = -24 };

struct gen {
	struct checker *c;
	struct lang_program *p;
	const struct lang_env *env;
	const struct lang_point *point;
	struct probe_block *block;
	enum lang_how how;
	bool is_exit;	     /* of a system call */
	struct ir_val probe; /* which point it is: what `probe` is kept as */
	uint32_t prog;	     /* which entry of the scratch map */
	struct ir_func *f;
	VEC(struct ir_func *) funcs;
	struct ir_val ctx, scratch, frame, zero;
	size_t zero_at, zero_end; /* the instructions that make it */
	bool zero_used;
	size_t scratch_at; /* the instructions that find it */
	bool scratch_used, in_callback;
	bool cookie; /* lang_code.cookie */
	int32_t stack_used, stack_limit;
	uint32_t scratch_off, scratch_max;
	struct ir_val *task; /* by map: this thread's entry */
	int exit_label, break_label, continue_label;
};

static inline struct val gen_val(struct ir_val v)
{
	return (struct val){ .v = v };
}
static inline struct val gen_val_at(struct place m)
{
	return (struct val){ .mem = true, .m = m };
}

/* What a statement takes, it gives back when it ends. */
struct gen_mark {
	int32_t stack;
	uint32_t scratch;
};
struct gen_mark gen_mark(const struct gen *g);
void gen_release(struct gen *g, struct gen_mark m);

/* Temporary memory, 8-byte aligned: on the stack when small, else in the scratch area. */
struct place gen_memory(struct gen *g, uint32_t size);
struct place gen_scratch(struct gen *g, uint32_t size);
struct place gen_stack(struct gen *g, uint32_t size);
struct ir_val gen_addr(struct gen *g, struct place p);
void gen_zero(struct gen *g, struct place p, uint32_t size);
void gen_copy(struct gen *g, struct place to, struct place from, uint32_t size);
struct place gen_at(struct place p, uint32_t off);

struct val gen_expr(struct gen *g, struct node *n);
struct ir_val gen_word(struct gen *g, struct node *n);
/* The value as type `to`, at p; lt_stored(to) bytes are written. */
void gen_into(struct gen *g, struct node *n, struct place p, const struct ltype *to);
/* The name of the thread, with zeros behind it; size: 16 or more. */
void gen_comm(struct gen *g, struct place p, uint32_t size);
void gen_put(struct gen *g, struct val v, const struct ltype *from, struct place p,
	     const struct ltype *to);
/* Go to the label when the truth of n is `when`. */
void gen_branch(struct gen *g, struct node *n, bool when, int label);
/* What reads there; text: up to its NUL. */
int gen_read_helper(enum lt_space space, bool text);
void gen_read(struct gen *g, struct ref r, struct place to, struct ir_val size);
struct ir_val gen_load(struct gen *g, struct ref r, unsigned size, bool is_signed);
struct ref gen_ref(struct gen *g, struct node *n);
static inline struct ir_val gen_ref_addr(struct gen *g, struct ref r)
{
	return gen_addr(g, (struct place){ r.base, r.off });
}
/* A string that lies elsewhere: at most `from` bytes of it, into size bytes that are zeroed. */
void gen_read_string(struct gen *g, struct ref r, struct place p, uint32_t from, uint32_t size);
/* Text at an address into zeroed memory; size and the length that is given count the NUL. */
struct ir_val gen_read_str(struct gen *g, struct ref r, struct place to, struct ir_val size);

struct ir_val gen_arith(struct gen *g, int op, struct ir_val a, struct ir_val b, bool is_signed);
struct val gen_builtin(struct gen *g, struct node *n);
struct val gen_args_field(struct gen *g, struct node *n);
struct val gen_call(struct gen *g, struct node *n);
void gen_call_into(struct gen *g, struct node *n, struct place p, const struct ltype *to);
/* Both sides equal? Falls through when the answer is `when`, else goes to the label. */
void gen_equal(struct gen *g, struct node *a, struct node *b, bool when, int label);
struct val gen_stack_id(struct gen *g, const struct ltype *t);

struct val gen_map_read(struct gen *g, struct node *n);
void gen_map_assign(struct gen *g, struct node *n);
void gen_map_add(struct gen *g, struct node *map, struct ir_val by);
struct ir_val gen_map_delete(struct gen *g, struct node *map);
struct ir_val gen_map_has(struct gen *g, struct node *map);
struct ir_val gen_map_pinned(struct gen *g, const char *path, struct ir_val key);
struct ir_val gen_map_len(struct gen *g, int map); /* how many keys it has */
/* The number an aggregation has over all CPUs, for the value at p of this CPU's entry. */
struct ir_val gen_agg_value(struct gen *g, struct node *map, const struct ltype *t,
			    struct place key);

/* A message with these arguments; those that are not words are made in place. */
void gen_message(struct gen *g, struct lang_action *a, struct node **arg, size_t n, bool control);
void gen_count(struct gen *g, uint32_t counter);
/* Where a register is in the context; -1: there is none of that name. */
int gen_register(const char *name);
struct ir_val gen_ip(struct gen *g);
/* The upper 32 bits of what a helper without arguments gives. */
struct ir_val gen_high32(struct gen *g, int helper);
/* The entry of a key; 0: there is none. */
struct ir_val gen_lookup(struct gen *g, int map, struct place key);
struct ir_val gen_at_most(struct gen *g, struct ir_val v, struct ir_val max);
struct val gen_var(struct gen *g, struct lvar *v);
/* What a variable that was declared as a short number keeps of a value. */
struct ir_val gen_fit(struct gen *g, const struct lvar *v, struct ir_val value);
void gen_set_var(struct gen *g, struct lvar *v, struct node *value);
void gen_stmt(struct gen *g, struct node *n);
void gen_block(struct gen *g, struct node *n); /* NULL: nothing */
/* The scratch area of this program; to none when there is none. */
struct ir_val gen_find_scratch(struct gen *g, int none);
void gen_drop_scratch(struct gen *g); /* removes the search for it where nothing used it */

/* lang/gen/loop.c */
void gen_loop(struct gen *g, struct node *n);
/* Is it a loop whose body is a function of its own? */
bool gen_is_callback(const struct gen *g, const struct node *n);
bool gen_has_callbacks(const struct gen *g, const struct node *n);
/* At the begin of a program with loops, and at its end. */
void gen_zero_begin(struct gen *g, bool callbacks);
void gen_zero_end(struct gen *g);
/* The same number, of which the verifier knows nothing. */
struct ir_val gen_hidden(struct gen *g, struct ir_val v);

/* A block for one point (or several that share the code) as a BPF program. */
int gen_program(struct checker *c, struct probe_block *b, const struct lang_point *pt,
		enum lang_how how, int filter_map, unsigned dump, struct lang_code *ret,
		struct err *e);

/* Counted when it failed, where that was asked for. when: JSLT 0, or JEQ 0 ... */
void gen_fallible(struct gen *g, struct ir_val r, int fails_when, int level, int helper);

/* lang/gen/task_maps.c: which maps live with threads, decided before code is made. */
void gen_task_maps(struct lang_program *p, const struct ast *t, const struct lang_env *env);
/* Find this thread's entries of the maps that `in` uses. */
void gen_task_find(struct gen *g, const struct node *in, bool body);
/* This thread's entry, or 0; with create only when there is no memory for one. */
struct ir_val gen_task_entry(struct gen *g, int map, bool create);
