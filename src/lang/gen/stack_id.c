/* SPDX-License-Identifier: MIT */
/* Stacks: their addresses into a map, once, and a number for them. */
#include "lang/gen/gen.h"

/* A round of lang_stack_id(): the addresses from at + off on. */
static struct ir_val round_of(struct ir_func *f, struct ir_val id, struct ir_val at, int32_t off)
{
	struct ir_val factor = ir_copy(f, IR_IMM((int64_t)LANG_STACK_HASH));

	for (int k = 0; k < LANG_STACK_ROUND; k++) {
		id = ir_alu(f, BPF_XOR, id, ir_load(f, 8, at, off + k * 8));
		id = ir_alu(f, BPF_MUL, id, factor);
	}
	return ir_alu(f, BPF_XOR, ir_alu(f, BPF_RSH, id, IR_IMM(29)), id);
}

/* A round as a function; what it is handed has where the addresses are, and the number so far. */
static struct ir_val round_function(struct gen *g, uint32_t rounds)
{
	struct ir_func *f = arena_alloc(&g->p->arena, sizeof(*f));
	struct ir_val i, with, at;
	int stop = ir_label(f);

	f->is_callback = true;
	f->pos = g->f->pos;
	vec_push(&g->funcs, f);
	i = ir_extend(f, ir_param(f, 0), 4, false);
	with = ir_param(f, 1);
	ir_branch(f, BPF_JGE, i, IR_IMM(rounds), stop);
	at = ir_alu(f, BPF_ADD, ir_load(f, 8, with, 0),
		    ir_alu(f, BPF_MUL, i, IR_IMM(LANG_STACK_ROUND * 8)));
	ir_store(f, 8, with, 8, round_of(f, ir_load(f, 8, with, 8), at, 0));
	ir_ret(f, IR_IMM(0));
	ir_place_label(f, stop);
	ir_ret(f, IR_IMM(1));
	return (struct ir_val){ IV_FUNC, (int64_t)g->funcs.n - 1 };
}

/*
 * The number of n addresses, into id, which it starts from `seed` for. By the kernel's loop where
 * there is one: its verifier goes through that once, and through every round of another, which
 * takes it as long as all the rest of a small program.
 */
static void gen_stack_hash(struct gen *g, struct place from, struct ir_val n, uint32_t depth,
			   uint32_t seed, struct ir_val id)
{
	uint32_t rounds = (depth + LANG_STACK_ROUND - 1) / LANG_STACK_ROUND;
	int loop = ir_label(g->f), hashed = ir_label(g->f);
	struct ir_val i, at;

	if (g->env->has_loop && !g->env->recorded && !g->in_callback && rounds > 1) {
		struct place with = gen_stack(g, 16);

		ir_store(g->f, 8, with.base, with.off, gen_addr(g, from));
		ir_store(g->f, 8, with.base, with.off + 8, IR_IMM(seed));
		n = ir_alu(g->f, BPF_ADD, n, IR_IMM(LANG_STACK_ROUND - 1));
		n = ir_alu(g->f, BPF_DIV, n, IR_IMM(LANG_STACK_ROUND));
		ir_call(g->f, BPF_FUNC_loop, 4, n, round_function(g, rounds), gen_addr(g, with),
			IR_IMM(0));
		ir_move(g->f, (int)id.v, ir_load(g->f, 8, with.base, with.off + 8));
		return;
	}
	i = ir_copy(g->f, IR_IMM(0));
	ir_move(g->f, (int)id.v, IR_IMM(seed));
	at = ir_copy(g->f, gen_addr(g, from));
	ir_place_label(g->f, loop);
	ir_move(g->f, (int)id.v, round_of(g->f, id, at, 0));
	ir_move(g->f, (int)at.v, ir_alu(g->f, BPF_ADD, at, IR_IMM(LANG_STACK_ROUND * 8)));
	ir_move(g->f, (int)i.v, ir_alu(g->f, BPF_ADD, i, IR_IMM(LANG_STACK_ROUND)));
	ir_branch(g->f, BPF_JGE, i, n, hashed);
	ir_branch(g->f, BPF_JLT, i, IR_IMM(depth), loop);
	ir_place_label(g->f, hashed);
}

/* A stack's number is a hash of its addresses, which the map has. The kernel's own stack maps lose
 * stacks whose short hashes collide. */
struct val gen_stack_id(struct gen *g, const struct ltype *t)
{
	bool user = t->kind == LT_USTACK;
	uint32_t depth = t->n ? t->n : 1, room = g->p->stack_depth;
	bool own = !user && g->point->kind != LP_KPROBE && g->point->kind != LP_PROFILE;
	struct gen_mark mark;
	struct place out = { 0 }, buf, key;
	struct ir_val id = ir_copy(g->f, IR_IMM(0)), n, p, r;
	int done = ir_label(g->f), by_kernel = ir_label(g->f), walked = ir_label(g->f),
	    later = ir_label(g->f), kept = ir_label(g->f);

	if (own)
		depth = depth + LANG_OWN_FRAMES < g->p->stack_depth ? depth + LANG_OWN_FRAMES
								    : g->p->stack_depth;
	if (user)
		out = gen_memory(g, 16);
	mark = gen_mark(g);
	if (user && !g->env->recorded && room < LANG_WALK_FRAMES)
		room = LANG_WALK_FRAMES;
	buf = gen_scratch(g, 8 + (room + LANG_STACK_ROUND - 1) * 8);
	key = gen_stack(g, 8);
	g->p->uses_stacks = true;
	g->p->uses_ustack |= user;
	n = ir_copy(g->f, IR_IMM(0));
	if (user && !g->env->recorded) {
		r = ir_call(g->f, LANG_CALL_WALK, 2, gen_addr(g, gen_at(buf, 8)), IR_IMM(depth));
		ir_branch(g->f, BPF_JEQ, r, IR_IMM(0), by_kernel);
		ir_branch(g->f, BPF_JSLT, r, IR_IMM(0), later);
		ir_branch(g->f, BPF_JGT, r, IR_IMM(depth), by_kernel);
		ir_move(g->f, (int)n.v, r);
		ir_jump(g->f, walked);
		ir_place_label(g->f, later);
		ir_move(g->f, (int)id.v, ir_load(g->f, 8, buf.base, buf.off + 8));
		ir_jump(g->f, done);
	}
	ir_place_label(g->f, by_kernel);
	r = ir_call(g->f, BPF_FUNC_get_stack, 4, g->ctx, gen_addr(g, gen_at(buf, 8)),
		    IR_IMM(depth * 8), IR_IMM(user ? BPF_F_USER_STACK : 0));
	ir_branch(g->f, BPF_JSLE, r, IR_IMM(0), done);
	ir_move(g->f, (int)n.v, ir_alu(g->f, BPF_RSH, r, IR_IMM(3)));
	ir_place_label(g->f, walked);
	ir_store(g->f, 8, buf.base, buf.off, n);
	p = ir_alu(g->f, BPF_ADD, buf.base, ir_alu(g->f, BPF_LSH, n, IR_IMM(3)));
	for (int k = 0; k < LANG_STACK_ROUND - 1; k++)
		ir_store(g->f, 8, p, buf.off + 8 + k * 8, IR_IMM(0));
	gen_stack_hash(g, gen_at(buf, 8), n, depth, depth + (user ? 1 : 0), id);
	ir_store(g->f, 8, key.base, key.off, id);
	p = gen_lookup(g, LANG_MAP_STACKS, key);
	ir_branch(g->f, BPF_JNE, p, IR_IMM(0), done);
	r = ir_call(g->f, BPF_FUNC_map_update_elem, 4, IR_MAPREF(LANG_MAP_STACKS), gen_addr(g, key),
		    gen_addr(g, buf), IR_IMM(BPF_ANY));
	ir_branch(g->f, BPF_JEQ, r, IR_IMM(0), kept);
	gen_count(g, LANG_COUNT_STACKS);
	ir_jump(g->f, done);
	ir_place_label(g->f, kept);
	if (user) { /* so that user space reads the mappings while the process exists */
		struct lang_action a = { .kind = LA_NEW_PROCESS, .map = -1 };
		struct node pid = { .kind = N_IDENT,
				    .s = "pid",
				    .id = B_PID,
				    .type = g->c->u64,
				    .map = -1,
				    .pos = g->f->pos },
			    *list[1] = { &pid };

		gen_message(g, &a, list, 1, true);
	}
	ir_place_label(g->f, done);
	gen_release(g, mark);
	if (!user)
		return gen_val(id);
	ir_store(g->f, 8, out.base, out.off, id);
	ir_store(g->f, 8, out.base, out.off + 8, gen_high32(g, BPF_FUNC_get_current_pid_tgid));
	return gen_val_at(out);
}
