/* SPDX-License-Identifier: MIT */
/*
 * Messages to user space, built in place in the ring.
 *
 * The reader is woken only when much has gathered, or for what cannot wait; else
 * it looks by itself every few milliseconds. What the session must not miss (exit,
 * print, clear) has a second ring for when the first is full.
 */
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

/* Must it be evaluated before a message is begun, because it sends one or ends the program? */
static bool comes_first(const struct node *n, const void *ctx)
{
	return n->kind == N_DO ||
	       (n->type && n->type->kind == LT_USTACK && (n->kind == N_IDENT || n->kind == N_CALL));
}

/* Room for a message in the ring, with its head; goes to full when there is none. */
struct gen_room {
	struct ir_val at;
	int full;
	bool control; /* what must not be lost has a second ring */
};

static struct gen_room gen_room(struct gen *g, uint32_t size, bool control)
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

/* Behind its submit: on to out, and what is done where it was full. */
static void gen_room_end(struct gen *g, const struct gen_room *r, const struct lang_action *a,
			 int out)
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

/* --- functions that have no value: most ask for something by a message --- */

#define JOIN_ARGS 16
#define JOIN_SIZE 256

static struct lang_action gen_action(enum lang_act kind, const char *format)
{
	return (struct lang_action){ .kind = kind, .format = format, .map = -1 };
}

/* The program ends here. */
static void gen_leave(struct gen *g)
{
	if (g->in_callback)
		ir_ret(g->f, IR_IMM(1));
	else
		ir_jump(g->f, g->exit_label);
}

void gen_printf(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action((enum lang_act)n->func->how, n->list[0]->s);

	gen_message(g, &a, n->list + 1, n->n - 1, a.kind != LA_PRINTF && a.kind != LA_DEBUGF);
}

void gen_print(struct gen *g, struct node *n)
{
	struct node *m = n->list[0];
	struct lang_action a = gen_action(LA_PRINT, NULL);

	if (n->v) {
		a.kind = LA_PRINT_MAP;
		a.map = m->map;
		a.top = n->n > 1 ? n->list[1]->v : 0;
		a.div = n->n > 2 ? n->list[2]->v : 0;
		gen_message(g, &a, NULL, 0, true);
		return;
	}
	if (m->kind == N_MAP) { /* @x[key]: shown with its name and key */
		struct node *args[32];
		size_t k = 0;

		a.map_key_text = arena_strdup(&g->p->arena, m->s);
		a.map = m->map;
		args[k++] = m;
		for (size_t i = 0; i < m->n && k < ARRAY_SIZE(args); i++)
			args[k++] = m->list[i];
		gen_message(g, &a, args, k, false);
		return;
	}
	gen_message(g, &a, n->list, 1, false);
}

/* A message about a map, which is the first argument. */
static void gen_action_map(struct gen *g, const struct node *n, struct lang_action a)
{
	a.map = n->list[0]->map;
	gen_message(g, &a, NULL, 0, true);
}

void gen_table(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_TABLE, n->list[1]->s);

	a.top = n->n > 2 ? n->list[2]->v : 0;
	a.div = n->n > 3 ? n->list[3]->v : 0;
	gen_action_map(g, n, a);
}

void gen_histogram(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_HISTOGRAM, n->list[1]->s);

	a.section = n->n > 2 ? n->list[2]->s : NULL;
	gen_action_map(g, n, a);
}

void gen_stacks(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_STACKS, NULL);

	a.how = (int)n->v;
	gen_action_map(g, n, a);
}

void gen_join(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_JOIN, n->n > 1 ? n->list[1]->s : " ");
	struct ir_val argv = gen_word(g, n->list[0]);
	const struct ltype *t = n->list[0]->type;
	enum lt_space space = t->kind == LT_PTR ? t->space : check_space(g->c);
	struct gen_room room;
	int end = ir_label(g->f);

	a.size = 8 + JOIN_ARGS * JOIN_SIZE;
	room = gen_room(g, a.size, false);
	for (int i = 0; i < JOIN_ARGS; i++)
		ir_store(g->f, 8, room.at, 8 + i * JOIN_SIZE, IR_IMM(0));
	for (int i = 0; i < JOIN_ARGS; i++) {
		struct ir_val s = gen_load(g, (struct ref){ argv, i * 8, space }, 8, false);

		ir_branch(g->f, BPF_JEQ, s, IR_IMM(0), end);
		gen_read_str(g, (struct ref){ s, 0, space },
			     (struct place){ room.at, 8 + i * JOIN_SIZE }, IR_IMM(JOIN_SIZE));
	}
	ir_place_label(g->f, end);
	ir_call(g->f, BPF_FUNC_ringbuf_submit, 2, room.at, IR_IMM(0));
	gen_room_end(g, &room, &a, ir_label(g->f));
}

void gen_clear(struct gen *g, struct node *n)
{
	gen_action_map(g, n, gen_action((enum lang_act)n->func->how, NULL));
}

void gen_time(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_TIME, n->n ? n->list[0]->s : "%H:%M:%S\n");

	gen_message(g, &a, NULL, 0, true);
}

void gen_exit(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(LA_EXIT, NULL);

	gen_message(g, &a, n->list, n->n, true);
	gen_leave(g);
}

void gen_signal(struct gen *g, struct node *n)
{
	ir_call(g->f, BPF_FUNC_send_signal, 1,
		n->list[0]->folded ? IR_IMM(n->list[0]->v) : gen_word(g, n->list[0]));
}

void gen_override(struct gen *g, struct node *n)
{
	ir_call(g->f, BPF_FUNC_override_return, 2, g->ctx, gen_word(g, n->list[0]));
}

void gen_assert(struct gen *g, struct node *n)
{
	struct lang_action a = gen_action(
		LA_ERRORF,
		n->n > 1 ? arena_printf(&g->p->arena, "assertion failed: %s\n", n->list[1]->s)
			 : "assertion failed\n");
	struct lang_action b = gen_action(LA_EXIT, NULL);
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
	gen_leave(g);
	ir_place_label(g->f, ok);
}
