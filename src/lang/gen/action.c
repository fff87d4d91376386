/* SPDX-License-Identifier: MIT */
/* Functions that have no value: most ask for something by a message. */
#include "lang/gen/func.h"

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
