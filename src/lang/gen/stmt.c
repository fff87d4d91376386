/* SPDX-License-Identifier: MIT */
/* Statements, loops, and a whole program around them. */
#include <string.h>

#include "lang/gen/gen.h"

#define LINE_ARGS 40 /* of one message */

/*
 * Texts that together make a line go as one message, so that nothing of another CPU comes
 * between: printf()s that follow one another, also in an if() that options decide.
 */
static void flush_line(struct gen *g, struct node **line)
{
	struct gen_mark mark = gen_mark(g);

	if (!*line)
		return;
	g->f->pos = (*line)->pos;
	gen_expr(g, *line);
	gen_release(g, mark);
	*line = NULL;
}

static void gen_stmt_add_text(struct gen *g, struct node **line, struct node *call)
{
	struct arena *a = &g->p->arena;
	struct node *sum, *fmt;

	if (*line && (*line)->n + call->n > LINE_ARGS)
		flush_line(g, line);
	if (*line) {
		sum = arena_dup(a, *line, sizeof(*sum));
		fmt = arena_dup(a, call->list[0], sizeof(*fmt));
		fmt->s = arena_printf(a, "%s%s", sum->list[0]->s, call->list[0]->s);
		fmt->slen = strlen(fmt->s);
		sum->list = arena_alloc(a, (sum->n + call->n) * sizeof(*sum->list));
		memcpy(sum->list, (*line)->list, sum->n * sizeof(*sum->list));
		memcpy(sum->list + sum->n, call->list + 1, (call->n - 1) * sizeof(*sum->list));
		sum->list[0] = fmt;
		sum->n += call->n - 1;
		call = sum;
	}
	*line = call;
	if (str_ends(call->list[0]->s, "\n"))
		flush_line(g, line);
}

static void gen_stmt_lines(struct gen *g, struct node *n, struct node **line)
{
	int known = n && n->kind == N_IF ? decide_truth(n->a) : -1;

	if (n && n->kind == N_BLOCK) {
		for (size_t i = 0; i < n->n; i++)
			gen_stmt_lines(g, n->list[i], line);
	} else if (known >= 0) {
		gen_stmt_lines(g, known ? n->b : n->c, line);
	} else if (n && n->kind == N_EXPR && n->a->kind == N_CALL && n->a->id == F_PRINTF) {
		gen_stmt_add_text(g, line, n->a);
	} else if (n) {
		flush_line(g, line);
		gen_stmt(g, n);
	}
}

void gen_block(struct gen *g, struct node *n)
{
	struct node *line = NULL;

	if (!n)
		return;
	gen_stmt_lines(g, n, &line);
	flush_line(g, &line);
}

struct ir_val gen_find_scratch(struct gen *g, int none)
{
	struct place key = gen_stack(g, 8);
	struct ir_val p;

	g->scratch_at = g->f->ins.n;
	ir_store(g->f, 8, key.base, key.off, IR_IMM(g->prog));
	p = gen_lookup(g, LANG_MAP_SCRATCH, key);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), none);
	return p;
}

void gen_drop_scratch(struct gen *g)
{
	for (size_t i = g->scratch_at; i < g->scratch_at + 3; i++)
		g->f->ins.data[i].dead = true;
}

/* What a += b and its like assign. */
static struct node gen_stmt_sum(const struct node *n, const struct ltype *type, bool is_signed)
{
	return (struct node){ .kind = N_BIN,
			      .op = n->op,
			      .a = n->a,
			      .b = n->b,
			      .pos = n->pos,
			      .len = n->len,
			      .type = type,
			      .v = is_signed,
			      .map = -1 };
}

static void gen_stmt_assign(struct gen *g, struct node *n)
{
	struct lvar *v = n->a->var;

	if (n->a->kind == N_MAP) {
		if (n->op == '=') {
			gen_map_assign(g, n);
		} else if (n->op == '+' || n->op == '-') {
			struct ir_val by = gen_word(g, n->b);

			if (n->a->type->kind == LT_PTR)
				by = ir_alu(g->f, BPF_MUL, by, IR_IMM(lt_step(n->a->type)));
			if (n->op == '-')
				by = ir_alu(g->f, BPF_SUB, IR_IMM(0), by);
			gen_map_add(g, n->a, by);
		} else {
			struct node sum = gen_stmt_sum(n, n->a->type, n->a->type->is_signed);
			struct node set = {
				.kind = N_ASSIGN, .op = '=', .a = n->a, .b = &sum, .pos = n->pos
			};

			gen_map_assign(g, &set);
		}
		return;
	}
	if (!v)
		return;
	if (n->op == '=') {
		gen_set_var(g, v, n->b);
	} else {
		struct node sum =
			gen_stmt_sum(n, v->type, v->type->is_signed && n->b->type->is_signed);

		gen_set_var(g, v, &sum);
	}
}

void gen_stmt(struct gen *g, struct node *n)
{
	struct gen_mark mark = gen_mark(g);

	g->f->pos = n->pos;
	switch (n->kind) {
	case N_BLOCK: gen_block(g, n); break;
	case N_EXPR: gen_expr(g, n->a); break;
	case N_IF: {
		int other = ir_label(g->f), end = ir_label(g->f), known = decide_truth(n->a);

		if (known >= 0) {
			gen_block(g, known ? n->b : n->c);
			break;
		}
		gen_branch(g, n->a, false, other);
		gen_release(g, mark);
		gen_block(g, n->b);
		if (n->c)
			ir_jump(g->f, end);
		ir_place_label(g->f, other);
		gen_block(g, n->c);
		ir_place_label(g->f, end);
		break;
	}
	case N_WHILE:
	case N_UNROLL:
	case N_FOR_MAP:
	case N_FOR_RANGE: gen_loop(g, n); break;
	case N_BREAK: ir_jump(g->f, g->break_label); break;
	case N_CONTINUE: ir_jump(g->f, g->continue_label); break;
	case N_RETURN:
		if (g->in_callback) /* functions around it return, too */
			ir_store(g->f, 8, g->frame, FRAME_LEFT, IR_IMM(1));
		ir_jump(g->f, g->exit_label);
		break;
	case N_LET:
		if (n->b && n->a->var)
			gen_set_var(g, n->a->var, n->b);
		break;
	case N_ASSIGN: gen_stmt_assign(g, n); break;
	default: break;
	}
	gen_release(g, mark);
}

/* Where variables live: a register, memory of their own, or the frame when loops share them. */
static void place_vars(struct gen *g, struct node *n, bool in_loop)
{
	bool loop = gen_is_callback(g, n), own = in_loop || (loop && n->kind == N_WHILE);
	struct lvar *v = n->var;

	if ((n->kind == N_VAR) && v && v->where == VAR_UNSET) {
		if (!lt_is_word(v->type)) {
			struct place p =
				gen_scratch(g, lt_stored(v->type) ? lt_stored(v->type) : 8);

			v->where = VAR_MEM;
			v->mem = p.off;
			gen_zero(g, p, lt_stored(v->type));
		} else if (v->used_in_callback) {
			struct place p = gen_stack(g, 8);

			v->where = VAR_FRAME;
			v->mem = p.off;
			ir_store(g->f, 8, p.base, p.off, IR_IMM(0));
		} else {
			v->where = VAR_REG;
			v->reg = -1;
			if (!in_loop) {
				v->reg = ir_reg(g->f);
				ir_move(g->f, v->reg, IR_IMM(0));
			}
		}
	}
	if (n->kind == N_FOR_RANGE) {
		struct place p = gen_stack(g, 8);

		n->offset = (uint32_t)-p.off;
	}
	if (n->b)
		place_vars(g, n->b, own);
	if (n->c)
		place_vars(g, n->c, own);
	if (n->a)
		place_vars(g, n->a, in_loop || loop);
	for (size_t i = 0; i < n->n; i++)
		place_vars(g, n->list[i], in_loop || loop);
}

static void forget_vars(struct node *n)
{
	if (n && n->var)
		n->var->where = VAR_UNSET;
	for (size_t i = 0; n && i < node_parts(n); i++)
		forget_vars(node_part(n, i));
}

/*
 * A program at a tracepoint answers for all perf events there, whoever opened them: with 0 it
 * would hide every hit from them. Elsewhere its event is its own, and 0 saves the kernel work.
 */
static int lets_others_see(const struct gen *g)
{
	return g->point->kind == LP_TRACEPOINT && g->how == LH_NORMAL;
}

/* Compares the number of the system call; others leave at once. */
static void filter_syscall(struct gen *g, int filter_map)
{
	struct node f = { .kind = N_FIELD, .s = "__syscall_nr", .type = g->c->i64 };
	struct ir_val nr = gen_args_field(g, &f).v, p;
	struct place key;

	if (filter_map < 0) {
		int number = g->env->syscall
				     ? g->env->syscall(g->env->ctx,
						       g->point->name + (g->is_exit ? 9 : 10))
				     : -1;

		ir_branch(g->f, BPF_JNE, nr, IR_IMM(number), g->exit_label);
		return;
	}
	key = gen_stack(g, 8);
	ir_store(g->f, 8, key.base, key.off, nr);
	p = gen_lookup(g, filter_map, key);
	ir_branch(g->f, BPF_JEQ, p, IR_IMM(0), g->exit_label);
	g->probe = ir_load(g->f, 8, p, 0);
	ir_branch(g->f, BPF_JEQ, g->probe, IR_IMM(0), g->exit_label);
	g->probe = ir_alu(g->f, BPF_SUB, g->probe, IR_IMM(1));
}

static void gen_stmt_body(struct gen *g, int filter_map)
{
	bool loops = gen_has_callbacks(g, g->block->pred) || gen_has_callbacks(g, g->block->body);
	struct ir_ins *i;
	struct place frame_ctx;

	i = ir_add(g->f, IR_CTX);
	i->dst = ir_reg(g->f);
	g->ctx = IR_REG(i->dst);
	frame_ctx = gen_stack(g, 8); /* first, so that it is at FRAME_CTX */
	g->exit_label = ir_label(g->f);
	g->frame = IR_STACK(0);
	if (loops) {
		ir_store(g->f, 8, frame_ctx.base, frame_ctx.off, g->ctx);
		gen_stack(g, 16); /* FRAME_ZERO, FRAME_LEFT */
		ir_store(g->f, 8, g->frame, FRAME_LEFT, IR_IMM(0));
		g->stack_limit = 160;
	}
	gen_zero_begin(g, loops);
	if (g->how == LH_SYSCALL)
		filter_syscall(g, filter_map);
	if (g->cookie)
		g->probe = ir_call(g->f, BPF_FUNC_get_attach_cookie, 1, g->ctx);
	if (g->point->kind == LP_ITER) /* its last call has nothing to show */
		ir_branch(g->f, BPF_JEQ, ir_load(g->f, 8, g->ctx, 8), IR_IMM(0), g->exit_label);
	/* With a predicate that needs no scratch memory, what fails it pays for none. */
	g->scratch = gen_find_scratch(g, g->exit_label);
	if (g->block->pred)
		place_vars(g, g->block->pred, false);
	place_vars(g, g->block->body, false);
	gen_task_find(g, g->block->pred, false);
	if (g->block->pred) {
		struct gen_mark mark = gen_mark(g);

		gen_branch(g, g->block->pred, false, g->exit_label);
		gen_release(g, mark);
	}
	gen_task_find(g, g->block->body, true);
	gen_block(g, g->block->body);
	ir_place_label(g->f, g->exit_label);
	ir_ret(g->f, IR_IMM(lets_others_see(g)));
	if (!g->scratch_used)
		gen_drop_scratch(g);
	gen_zero_end(g);
}

/* Callbacks of loops that are never come to: the kernel knows no function that nobody calls. Who
 * calls one stands before it. */
static void drop_unused(struct gen *g)
{
	AUTO_FREE int64_t *to = mem_alloc(g->funcs.n * sizeof(*to));
	size_t n = 0;

	for (size_t i = 1; i < g->funcs.n; i++)
		to[i] = -1;
	for (size_t i = 0; i < g->funcs.n; i++) {
		struct ir_func *f = g->funcs.data[i];

		if (to[i] < 0) {
			ir_free(f);
			continue;
		}
		to[i] = (int64_t)n;
		g->funcs.data[n++] = f;
		vec_each (&f->ins, in)
			for (unsigned k = 0; k < in->n_args; k++)
				if (in->arg[k].kind == IV_FUNC)
					to[in->arg[k].v] = 0;
	}
	g->funcs.n = n;
	vec_each (&g->funcs, f)
		vec_each (&(*f)->ins, in)
			for (unsigned k = 0; k < in->n_args; k++)
				if (in->arg[k].kind == IV_FUNC)
					in->arg[k].v = to[in->arg[k].v];
}

int gen_program(struct checker *c, struct probe_block *b, const struct lang_point *pt,
		enum lang_how how, int filter_map, unsigned dump, struct lang_code *ret,
		struct err *e)
{
	struct gen g = { .c = c,
			 .p = c->p,
			 .env = c->env,
			 .point = pt,
			 .block = b,
			 .how = how,
			 .cookie = ret->cookie,
			 .stack_limit = 240 };
	struct ir_func *f = arena_alloc(&c->p->arena, sizeof(*f));
	int r;

	f->pos = b->pos;
	g.f = f;
	g.prog = (uint32_t)c->p->codes.n;
	g.probe = IR_IMM(pt->id);
	g.is_exit = how != LH_NORMAL && (str_starts(pt->name, "sys_exit"));
	vec_push(&g.funcs, f);
	forget_vars(b->body);
	forget_vars(b->pred);
	gen_stmt_body(&g, filter_map);
	for (size_t i = 0; i < g.funcs.n; i++) {
		struct ir_func *k = g.funcs.data[i];
		size_t n = 0;

		for (size_t j = 0; j < k->ins.n; j++)
			if (!k->ins.data[j].dead)
				k->ins.data[n++] = k->ins.data[j];
		k->ins.n = n;
		ir_clean(k);
	}
	drop_unused(&g);
	for (size_t i = 0; i < g.funcs.n && (dump & LANG_DUMP_IR); i++) {
		strbuf_printf(&c->p->dump, "%s%s:\n", pt->text, i ? " (loop)" : "");
		ir_dump(g.funcs.data[i], &c->p->dump);
	}
	if (g.scratch_max > c->p->maps.data[LANG_MAP_SCRATCH].value_size)
		c->p->maps.data[LANG_MAP_SCRATCH].value_size = g.scratch_max;
	r = emit_code(g.funcs.data, g.funcs.n, &c->p->arena, ret, e);
	for (size_t i = 0; i < g.funcs.n; i++)
		ir_free(g.funcs.data[i]);
	vec_free(&g.funcs);
	return r;
}
