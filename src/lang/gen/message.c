/* SPDX-License-Identifier: MIT */
/*
 * Messages to user space, built in place in the ring.
 *
 * The reader is woken only when much has gathered, or for what cannot wait; else
 * it looks by itself every few milliseconds. What the session must not miss (exit,
 * print, clear) has a second ring for when the first is full.
 */
#include <string.h>

#include "lang/gen/gen.h"

#define WAKE_BYTES 32768
#define NO_WAKEUP 1
#define FORCE_WAKEUP 2

static struct ir_val wake_flags(struct gen *g, bool control)
{
	struct ir_val flags;
	int few = ir_label(g->f);

	if (control || g->env->recorded)
		return IR_IMM(FORCE_WAKEUP);
	flags = ir_copy(g->f, IR_IMM(NO_WAKEUP));
	ir_branch(g->f, BPF_JLT,
		  ir_call(g->f, BPF_FUNC_ringbuf_query, 2, IR_MAPREF(LANG_MAP_RING), IR_IMM(0)),
		  IR_IMM(WAKE_BYTES), few);
	ir_move(g->f, (int)flags.v, IR_IMM(FORCE_WAKEUP));
	ir_place_label(g->f, few);
	return flags;
}

/*
 * Does evaluating it send a message or end the program? Then it must be done before a message is
 * begun.
 */
static bool comes_first(const struct node *n, const void *ctx)
{
	(void)ctx;
	return n->kind == N_DO ||
	       (n->type && n->type->kind == LT_USTACK && (n->kind == N_IDENT || n->kind == N_CALL));
}

void gen_message(struct gen *g, struct lang_action *a, struct node **arg, size_t n, bool control)
{
	struct ir_val word[64] = { 0 }, p;
	struct val made[64] = { 0 };
	int full = ir_label(g->f), end = ir_label(g->f), have = ir_label(g->f);
	struct ir_val flags;
	uint32_t id;

	a->size = 8;
	a->n_args = n;
	a->arg = arena_alloc(&g->p->arena, n * sizeof(*a->arg) + 1);
	for (size_t i = 0; i < n; i++) {
		a->arg[i].type = arg[i]->type;
		a->arg[i].offset = a->size;
		a->size += lt_stored(arg[i]->type);
	}
	g->p->uses_ring = true;
	g->p->prints |= !control;
	/* Words first, with whatever they do besides; the rest straight into the message. */
	for (size_t i = 0; i < n && i < ARRAY_SIZE(word); i++)
		if (lt_is_word(arg[i]->type))
			word[i] = gen_word(g, arg[i]);
		else if (node_find(arg[i], comes_first, NULL))
			made[i] = gen_expr(g, arg[i]);
	id = (uint32_t)g->p->actions.n; /* what came first had messages of its own */
	p = ir_copy(g->f, ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_RING),
				  IR_IMM(a->size), IR_IMM(0)));
	if (!control) {
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), full);
	} else {
		ir_branch(g->f, BPF_JNE, p, IR_IMM(0), have);
		ir_move(g->f, (int)p.v,
			ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_CONTROL),
				IR_IMM(a->size), IR_IMM(0)));
		ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), full);
		ir_place_label(g->f, have);
	}
	ir_store(g->f, 4, p, 0, IR_IMM((int32_t)id));
	ir_store(g->f, 4, p, 4, IR_IMM(0));
	for (size_t i = 0; i < n && i < ARRAY_SIZE(word); i++) {
		struct place to = { p, (int32_t)a->arg[i].offset };

		if (lt_is_word(arg[i]->type))
			ir_store(g->f, 8, to.base, to.off, word[i]);
		else if (node_find(arg[i], comes_first, NULL))
			gen_put(g, made[i], arg[i]->type, to, arg[i]->type);
		else
			gen_into(g, arg[i], to, arg[i]->type);
	}
	flags = wake_flags(g, control);
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, p, flags);
	ir_jump(g->f, end);
	ir_place_label(g->f, full);
	gen_count(g, control ? LANG_COUNT_CONTROL_LOST : LANG_COUNT_LOST);
	ir_place_label(g->f, end);
	a->pos = g->f->pos;
	vec_push(&g->p->actions, *a);
}
