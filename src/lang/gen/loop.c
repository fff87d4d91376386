/* SPDX-License-Identifier: MIT */
/*
 * Loops.
 *
 * for is a function that the kernel calls for each turn, and so is while where the kernel has
 * bpf_loop() but no may_goto. What such a function shares with what is around it lies in the
 * frame of the program.
 *
 * The verifier must not know what variables hold while a loop goes: it would follow every round
 * of `while ($i < 5000)` and give up. And before Linux 6.7 it looks at a function for turns only
 * once, as if there were just one, and drops the branches that are not taken then. So values
 * that loops change go through gen_hidden(), which leaves them as they are and makes them unknown.
 */
#include "lang/gen/gen.h"

bool gen_is_callback(const struct gen *g, const struct node *n)
{
	return n->kind == N_FOR_MAP || n->kind == N_FOR_RANGE ||
	       (n->kind == N_WHILE && check_while_called(g->env));
}

static bool gen_is_callback_test(const struct node *n, const void *g)
{
	return gen_is_callback(g, n);
}

bool gen_has_callbacks(const struct gen *g, const struct node *n)
{
	return node_find(n, gen_is_callback_test, g);
}

static bool gen_is_while(const struct node *n, const void *ctx)
{
	return n->kind == N_WHILE;
}

/* Numbers of processes have no sign, but the verifier does not know that. */
void gen_zero_begin(struct gen *g, bool callbacks)
{
	g->zero = IR_IMM(0);
	g->zero_at = g->zero_end = g->f->ins.n;
	if (g->env->recorded || (!callbacks && !node_find(g->block->pred, gen_is_while, NULL) &&
				 !node_find(g->block->body, gen_is_while, NULL)))
		return;
	g->zero =
		ir_alu(g->f, BPF_ARSH, ir_call(g->f, BPF_FUNC_get_current_pid_tgid, 0), IR_IMM(63));
	if (callbacks)
		ir_store(g->f, 8, g->frame, FRAME_ZERO, g->zero);
	g->zero_end = g->f->ins.n;
}

void gen_zero_end(struct gen *g)
{
	struct ir_func *f = g->funcs.data[0];

	for (size_t i = g->zero_at; i < g->zero_end && !g->zero_used; i++)
		f->ins.data[i].dead = true;
}

struct ir_val gen_hidden(struct gen *g, struct ir_val v)
{
	if (g->env->recorded)
		return v;
	g->zero_used = true;
	return ir_alu(g->f, BPF_XOR, v, g->zero);
}

/* Variables that a loop changes may have any value when a round begins. */
static void hide_vars(struct gen *g, struct node *n, int round)
{
	struct lvar *v =
		n->kind == N_ASSIGN || n->kind == N_INCDEC || n->kind == N_LET ? n->a->var : NULL;

	if (v && n->a->kind == N_VAR && v->where == VAR_REG && v->reg >= 0 &&
	    v->type->kind == LT_INT && v->round != round) {
		v->round = round;
		ir_move(g->f, v->reg, gen_hidden(g, IR_REG(v->reg)));
	}
	for (size_t i = 0; i < node_parts(n); i++)
		if (node_part(n, i))
			hide_vars(g, node_part(n, i), round);
}

static void loop_while(struct gen *g, struct node *n)
{
	int top = ir_label(g->f), end = ir_label(g->f), cut = ir_label(g->f);

	g->break_label = end;
	g->continue_label = top;
	ir_place_label(g->f, top);
	if (g->env->has_may_goto) {
		ir_add(g->f, IR_MAY_GOTO)->label = cut;
		hide_vars(g, n, top + 1);
	}
	gen_branch(g, n->a, false, end);
	gen_block(g, n->b);
	ir_jump(g->f, top);
	if (g->env->has_may_goto) { /* the kernel ended it */
		ir_place_label(g->f, cut);
		gen_count(g, LANG_COUNT_LOOPS);
	}
	ir_place_label(g->f, end);
}

static void gen_loop_unroll(struct gen *g, struct node *n)
{
	int end = ir_label(g->f);

	g->break_label = end;
	for (int64_t i = 0; i < n->a->v; i++) {
		g->continue_label = ir_label(g->f);
		gen_block(g, n->b);
		ir_place_label(g->f, g->continue_label);
	}
	ir_place_label(g->f, end);
}

/* Registers for the variables that only this loop's body has. */
static void loop_vars(struct gen *g, struct node *n)
{
	bool is_loop = gen_is_callback(g, n);

	if (n->kind == N_VAR && n->var && n->var->where == VAR_REG && n->var->reg < 0) {
		n->var->reg = ir_reg(g->f);
		ir_move(g->f, n->var->reg, IR_IMM(0));
	}
	if (n->a && !is_loop)
		loop_vars(g, n->a);
	if (n->b && !(is_loop && n->kind == N_WHILE))
		loop_vars(g, n->b);
	if (n->c)
		loop_vars(g, n->c);
	for (size_t i = 0; i < n->n && !is_loop; i++)
		loop_vars(g, n->list[i]);
}

/* The body of a loop as a function; what it shares with the outside lies in the frame. */
static int gen_loop_callback(struct gen *g, struct node *n)
{
	struct gen save = *g;
	struct ir_func *f = arena_alloc(&g->p->arena, sizeof(*f));
	struct ir_val index = { 0 }, key = { 0 }, value = { 0 };
	struct lvar *v = n->kind == N_WHILE ? NULL : n->a->var;
	int id, stop = ir_label(f), go_on = ir_label(f);

	vec_push(&g->funcs, f);
	save.funcs = g->funcs; /* it may have moved */
	id = (int)g->funcs.n - 1;
	g->f = f;
	f->is_callback = true;
	f->pos = n->pos;
	g->in_callback = true;
	g->stack_used = 0;
	g->stack_limit = 64;
	g->scratch_used = false;
	if (n->kind != N_FOR_MAP) {
		index = ir_param(g->f, 0);
		g->frame = ir_param(g->f, 1);
	} else {
		ir_param(g->f, 0);
		key = ir_param(g->f, 1);
		value = ir_param(g->f, 2);
		g->frame = ir_param(g->f, 3);
	}
	g->ctx = ir_load(f, 8, g->frame, FRAME_CTX);
	g->zero = ir_load(f, 8, g->frame, FRAME_ZERO);
	g->scratch = gen_find_scratch(g, stop);
	g->exit_label = stop;
	g->break_label = stop;
	g->continue_label = go_on;
	if (v && n->kind == N_FOR_RANGE) {
		struct ir_val from = ir_load(f, 8, g->frame, n->offset ? -(int32_t)n->offset : -16);
		struct ir_val i = ir_alu(f, BPF_ADD, from, ir_extend(f, index, 4, false));

		if (v->where == VAR_FRAME)
			ir_store(f, 8, g->frame, v->mem, i);
		else
			ir_move(f, v->reg = ir_reg(f), i);
	} else if (v && v->type->kind == LT_TUPLE) {
		const struct lang_map *m = &g->p->maps.data[n->b->map];
		const struct ltype *t = v->type;
		struct place to = { g->scratch, v->mem };

		g->scratch_used = true;
		gen_copy(g, to, (struct place){ key, 0 }, lt_stored(t->item[0]));
		if (m->is_agg) {
			ir_store(f, 8, to.base, to.off + (int32_t)t->offset[1],
				 gen_agg_value(g, n->b, m->value,
					       (struct place){ to.base, to.off }));
		} else {
			gen_copy(g, gen_at(to, t->offset[1]), (struct place){ value, 0 },
				 lt_stored(t->item[1]));
		}
	}
	if (n->kind == N_WHILE) {
		loop_vars(g, n->a);
		loop_vars(g, n->b);
		gen_branch(g, n->a, false, stop);
		gen_block(g, n->b);
	} else {
		loop_vars(g, n->list[0]);
		gen_block(g, n->list[0]);
	}
	ir_place_label(f, go_on);
	ir_ret(f, IR_IMM(0));
	ir_place_label(f, stop);
	ir_ret(f, IR_IMM(1));
	if (!g->scratch_used)
		gen_drop_scratch(g);
	/* back to the outer function; what was learnt on the way stays */
	save.funcs = g->funcs;
	save.scratch_max = g->scratch_max;
	save.zero_used = g->zero_used;
	save.scratch_off = save.scratch_off > g->scratch_off ? save.scratch_off : g->scratch_off;
	*g = save;
	return id;
}

static bool gen_is_return(const struct node *n, const void *ctx)
{
	return n->kind == N_RETURN;
}

static void for_range(struct gen *g, struct node *n, struct ir_val frame)
{
	struct ir_val from = gen_word(g, n->b), to = gen_word(g, n->c),
		      count = ir_copy(g->f, IR_IMM(0)), func = { IV_FUNC, 0 };
	int none = ir_label(g->f), end = ir_label(g->f);

	ir_store(g->f, 8, g->frame, -(int32_t)n->offset, from);
	ir_branch(g->f, BPF_JSGE, from, to, none);
	ir_move(g->f, (int)count.v, ir_alu(g->f, BPF_SUB, to, from));
	if (from.kind != IV_IMM || to.kind != IV_IMM) { /* else it was checked */
		ir_branch(g->f, BPF_JLE, count, IR_IMM(LANG_ROUNDS_MAX), none);
		gen_count(g, LANG_COUNT_LOOPS);
		ir_move(g->f, (int)count.v, IR_IMM(LANG_ROUNDS_MAX));
	}
	ir_place_label(g->f, none);
	func.v = gen_loop_callback(g, n);
	/* Where Linux 6.18 knows that there is no turn, it drops the callback but not
	 * the word that names it, and stumbles over that: let it drop both. */
	ir_branch(g->f, BPF_JEQ, count, IR_IMM(0), end);
	ir_call(g->f, BPF_FUNC_loop, 4, count, func, frame, IR_IMM(0));
	ir_place_label(g->f, end);
}

static void call_loop(struct gen *g, struct node *n)
{
	struct ir_val frame = g->in_callback ? g->frame : IR_STACK(0), func = { IV_FUNC, 0 };
	int end = ir_label(g->f);

	if (n->kind == N_FOR_RANGE) {
		for_range(g, n, frame);
	} else {
		func.v = gen_loop_callback(g, n);
		if (n->kind == N_FOR_MAP)
			ir_call(g->f, BPF_FUNC_for_each_map_elem, 4, IR_MAPREF(n->b->map), func,
				frame, IR_IMM(0));
		else
			ir_branch(g->f, BPF_JLT,
				  ir_call(g->f, BPF_FUNC_loop, 4, IR_IMM(LANG_ROUNDS_MAX), func,
					  frame, IR_IMM(0)),
				  IR_IMM(LANG_ROUNDS_MAX), end);
	}
	if (n->kind == N_WHILE) { /* the kernel ended it */
		gen_count(g, LANG_COUNT_LOOPS);
		ir_place_label(g->f, end);
	}
	if (node_find(n, gen_is_return, NULL)) /* which ends what is around the loop, too */
		ir_branch(g->f, BPF_JNE, gen_hidden(g, ir_load(g->f, 8, g->frame, FRAME_LEFT)),
			  IR_IMM(0), g->exit_label);
}

void gen_loop(struct gen *g, struct node *n)
{
	int out = g->break_label, on = g->continue_label;

	if (gen_is_callback(g, n))
		call_loop(g, n);
	else if (n->kind == N_WHILE)
		loop_while(g, n);
	else
		gen_loop_unroll(g, n);
	g->break_label = out;
	g->continue_label = on;
}
