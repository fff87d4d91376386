/* SPDX-License-Identifier: MIT */
/*
 * Messages to user space, built in place in the ring.
 *
 * The reader is woken only when much has gathered, or for what cannot wait; else
 * it looks by itself every few milliseconds. What the session must not miss (exit,
 * print, clear) has a second ring for when the first is full.
 */
#include <string.h>

#include "lang/gen/func.h"

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

struct gen_room gen_room(struct gen *g, uint32_t size, bool control)
{
	struct gen_room r = { .full = ir_label(g->f), .control = control };
	int have = ir_label(g->f);

	g->p->uses_ring = true;
	g->p->prints |= !control;
	r.at = ir_copy(g->f, ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_RING),
				     IR_IMM(size), IR_IMM(0)));
	if (control) {
		ir_branch(g->f, BPF_JNE, r.at, IR_IMM(0), have);
		ir_move(g->f, (int)r.at.v,
			ir_call(g->f, BPF_FUNC_ringbuf_reserve, 3, IR_MAPREF(LANG_MAP_CONTROL),
				IR_IMM(size), IR_IMM(0)));
	}
	ir_branch(g->f, BPF_JEQ, r.at, IR_IMM(0), r.full);
	if (control)
		ir_place_label(g->f, have);
	ir_store(g->f, 4, r.at, 0, IR_IMM((int32_t)g->p->actions.n));
	ir_store(g->f, 4, r.at, 4, IR_IMM(0));
	return r;
}

void gen_room_end(struct gen *g, const struct gen_room *r, const struct lang_action *a, int out)
{
	ir_jump(g->f, out);
	ir_place_label(g->f, r->full);
	gen_count(g, r->control ? LANG_COUNT_CONTROL_LOST : LANG_COUNT_LOST);
	ir_place_label(g->f, out);
	vec_push(&g->p->actions, *a);
}

void gen_message(struct gen *g, struct lang_action *a, struct node **arg, size_t n, bool control)
{
	struct ir_val word[64] = { 0 };
	struct val made[64] = { 0 };
	struct gen_room room;

	a->size = 8;
	a->n_args = n;
	a->arg = arena_alloc(&g->p->arena, n * sizeof(*a->arg) + 1);
	for (size_t i = 0; i < n; i++) {
		a->arg[i].type = arg[i]->type;
		a->arg[i].offset = a->size;
		a->size += lt_stored(arg[i]->type);
	}
	/* Words first, with whatever they do besides; the rest straight into the message. */
	for (size_t i = 0; i < n && i < ARRAY_SIZE(word); i++)
		if (lt_is_word(arg[i]->type))
			word[i] = gen_word(g, arg[i]);
		else if (node_find(arg[i], comes_first, NULL))
			made[i] = gen_expr(g, arg[i]);
	room = gen_room(g, a->size, control); /* what came first had messages of its own */
	for (size_t i = 0; i < n && i < ARRAY_SIZE(word); i++) {
		struct place to = { room.at, (int32_t)a->arg[i].offset };

		if (lt_is_word(arg[i]->type))
			ir_store(g->f, 8, to.base, to.off, word[i]);
		else if (node_find(arg[i], comes_first, NULL))
			gen_put(g, made[i], arg[i]->type, to, arg[i]->type);
		else
			gen_into(g, arg[i], to, arg[i]->type);
	}
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, room.at, wake_flags(g, control));
	gen_room_end(g, &room, a, ir_label(g->f));
}

/* --- packets: what a struct sk_buff holds, for a pcap file --- */

#define SNAP_MAX 2048u
#define SNAP_DEFAULT 1536u
#define HEAD 24 /* action and flags, time, length */

static struct ir_val gen_skb_field(struct gen *g, struct node *skb, struct ir_val base,
				   const char *name, unsigned size)
{
	uint32_t off = 0;

	lt_field(skb->type->elem->rec, name, &off);
	return gen_load(g, (struct ref){ base, (int32_t)off, LS_KERNEL }, size, false);
}

/* skboutput(path, skb, length, offset): from the linear part of its data, which has all headers. */
struct ir_val gen_skboutput(struct gen *g, struct node *n)
{
	struct lang_action a = { .kind = LA_SKBOUTPUT, .format = n->list[0]->s, .map = -1 };
	struct node *skb = n->list[1], *length = n->list[2];
	uint32_t snap = length->folded && length->v > 0 && length->v <= SNAP_MAX
				? ((uint32_t)length->v + 7) & ~7u
				: SNAP_DEFAULT;
	struct ir_val base = gen_word(g, skb), want = gen_word(g, length),
		      from = gen_word(g, n->list[3]), have, size, r = ir_copy(g->f, IR_IMM(-1));
	struct gen_room room;
	int none = ir_label(g->f);

	a.size = HEAD + snap;
	have = ir_alu(g->f, BPF_SUB, gen_skb_field(g, skb, base, "len", 4),
		      gen_skb_field(g, skb, base, "data_len", 4));
	ir_branch(g->f, BPF_JLE, have, from, none);
	have = ir_alu(g->f, BPF_SUB, have, from);
	from = ir_alu(g->f, BPF_ADD, gen_skb_field(g, skb, base, "data", 8), from);
	room = gen_room(g, a.size, false);
	ir_store(g->f, 8, room.at, 8, ir_call(g->f, BPF_FUNC_ktime_get_boot_ns, 0));
	size = gen_at_most(g, gen_at_most(g, want, have), IR_IMM(snap));
	ir_store(g->f, 8, room.at, 16, size);
	ir_call(g->f, BPF_FUNC_probe_read_kernel, 3, ir_alu(g->f, BPF_ADD, room.at, IR_IMM(HEAD)),
		size, from);
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, room.at, IR_IMM(0));
	ir_move(g->f, (int)r.v, IR_IMM(0));
	gen_room_end(g, &room, &a, none);
	return r;
}
