/* SPDX-License-Identifier: MIT */
/* Statements: scopes, loops, assignments. */
#include "lang/check/check.h"

static void check_list(struct checker *c, struct node *n)
{
	size_t vars = c->vars.n;

	if (!n)
		return;
	if (n->kind != N_BLOCK) {
		check_stmt(c, n);
	} else {
		for (size_t i = 0; i < n->n; i++)
			check_stmt(c, n->list[i]);
	}
	/* let declares in its block, an assignment in the whole probe, as in bpftrace 0.17. */
	for (size_t i = vars; i < c->vars.n; i++)
		if (c->vars.data[i] && c->vars.data[i]->scope)
			c->vars.data[i] = NULL;
}

static void check_cond(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n);

	if (t->kind != LT_NONE && !lt_is_num(t))
		check_fail(c, n, "a condition is a number, not %s", check_text(c, t));
}

bool check_while_called(const struct lang_env *env)
{
	return env->has_loop && !env->has_may_goto;
}

static void check_while(struct checker *c, struct node *n)
{
	bool called = check_while_called(c->env);
	size_t vars = c->vars.n;

	c->callback_depth += called;
	check_cond(c, n->a);
	check_list(c, n->b);
	c->callback_depth -= called;
	/* A variable that gets its first value in a block is known behind it, too. */
	for (size_t i = vars; i < c->vars.n && called; i++)
		if (c->vars.data[i]) {
			c->vars.data[i]->used_in_callback = true;
			c->vars.data[i]->loop_depth = c->callback_depth;
		}
}

static void check_for(struct checker *c, struct node *n)
{
	size_t vars = c->vars.n;
	const struct ltype *t;

	if (n->kind == N_FOR_MAP) {
		struct lang_map *m;

		if (n->b->kind != N_MAP)
			return;
		if (n->b->n)
			check_fail(c, n->b, "for goes over a whole map, without a key");
		n->b->map = check_map(c, n->b->s);
		m = &c->p->maps.data[n->b->map];
		t = c->none;
		if (m->value->kind == LT_NONE) {
			if (c->final)
				check_fail(c, n->b, "nothing is ever stored in %s", n->b->s);
		} else if (!m->key) {
			if (c->final)
				check_fail(c, n->b, "%s has no keys to go over", n->b->s);
		} else {
			const struct ltype *item[2] = { m->key->n == 1 ? m->key->item[0] : m->key,
							m->value };

			if (lt_is_agg(m->value) && m->value->kind != LT_HIST &&
			    m->value->kind != LT_LHIST)
				item[1] = m->value->is_signed ? c->i64 : c->u64;
			if (lt_is_agg(item[1]))
				check_fail(c, n->b, "the values of %s cannot be gone over",
					   n->b->s);
			else
				t = lt_tuple(c->t, item, 2);
		}
	} else {
		int64_t from, to;

		check_expr(c, n->b);
		check_expr(c, n->c);
		t = c->i64;
		if (check_const(n->b, &from) && check_const(n->c, &to) && to > from &&
		    (uint64_t)to - (uint64_t)from > LANG_ROUNDS_MAX)
			check_fail(c, n->c, "a loop goes at most %d rounds", LANG_ROUNDS_MAX);
	}
	c->callback_depth++;
	if (n->a->var)
		n->a->var->type = t;
	check_new_var(c, n->a, t)->loop_depth = c->callback_depth;
	n->a->type = t;
	check_list(c, n->list[0]);
	c->callback_depth--;
	for (size_t i = vars; i < c->vars.n; i++)
		c->vars.data[i] = NULL;
}

/* $p += 1 and $p -= 1 are all that can be done to a pointer. */
static void check_pointer_step(struct checker *c, const struct node *n, const struct ltype *to,
			       const struct ltype *by)
{
	if (to->kind == LT_PTR)
		check_fill(c, to->elem);
	if (by->kind == LT_PTR || (to->kind == LT_PTR && n->op != '+' && n->op != '-'))
		check_no_pointer(c, n, n->op);
}

static void check_assign(struct checker *c, struct node *n)
{
	const struct ltype *t;

	if (n->a->kind == N_MAP) {
		check_map_keys(c, n->a);
		c->agg_ok = n->op == '=';
		t = check_expr(c, n->b);
		c->agg_ok = false;
		n->a->type = c->p->maps.data[n->a->map].value;
		if (n->op != '=' && t->kind != LT_NONE && !lt_is_num(t))
			check_fail(c, n, "only numbers can be added to");
		else if (n->op != '=')
			check_pointer_step(c, n, n->a->type, t);
		if (lt_is_agg(n->a->type) && !lt_is_agg(t) && t->kind != LT_NONE)
			check_fail(c, n, "%s is an aggregation, it cannot be set", n->a->s);
		else
			check_assign_map(c, n, n->op == '=' ? t : t->kind == LT_NONE ? t : c->i64);
		n->a->type = c->p->maps.data[n->a->map].value;
		return;
	}
	t = check_expr(c, n->b);
	if (n->op != '=') {
		const struct ltype *old = check_expr(c, n->a);

		if (old->kind != LT_NONE && t->kind != LT_NONE &&
		    (!lt_is_num(old) || !lt_is_num(t)))
			check_fail(c, n, "only numbers can be added to");
		else
			check_pointer_step(c, n, old, t);
		return;
	}
	check_assign_var(c, n->a, t, false);
}

/* let $x: uint8 = 300; */
static struct node *as_type(struct checker *c, const struct node *let)
{
	struct node *n = arena_dup(&c->p->arena, let->b, sizeof(*n));

	n->kind = N_CAST;
	n->ctype = let->ctype;
	n->a = let->b;
	n->b = n->c = NULL;
	n->n = 0;
	n->folded = false;
	return n;
}

void check_stmt(struct checker *c, struct node *n)
{
	const struct ltype *t;
	int64_t v;

	switch (n->kind) {
	case N_BLOCK: check_list(c, n); break;
	case N_EXPR:
		c->void_ok = true;
		check_expr(c, n->a);
		c->void_ok = false;
		break;
	case N_IF:
		check_cond(c, n->a);
		check_list(c, n->b);
		check_list(c, n->c);
		break;
	case N_WHILE: check_while(c, n); break;
	case N_UNROLL:
		t = check_expr(c, n->a);
		if (!check_const(n->a, &v)) {
			if (t->kind != LT_NONE || c->final)
				check_fail(c, n->a, "unroll wants a constant");
		} else if (v < 1 || v > 100) {
			check_fail(c, n->a, "unroll goes from 1 to 100");
		}
		check_list(c, n->b);
		break;
	case N_FOR_MAP:
	case N_FOR_RANGE: check_for(c, n); break;
	case N_RETURN:
		if (n->a)
			check_expr(c, n->a);
		break;
	case N_LET: {
		struct lvar *old = n->a->var;

		t = n->b ? check_expr(c, n->b) : c->none;
		if (n->ctype) {
			t = check_ctype(c, n->ctype);
			if (n->b && t->kind == LT_INT && n->b->kind != N_CAST)
				n->b = as_type(c, n);
			if (n->b && t->kind == LT_INT)
				t = check_expr(c, n->b);
		}
		n->a->var = old;
		check_assign_var(c, n->a, t, true);
		if (n->a->var) {
			n->a->var->scope = n;
			n->a->var->narrow =
				n->ctype && t->kind == LT_INT && !t->is_bool && t->size < 8 ? t
											    : NULL;
		}
		break;
	}
	case N_ASSIGN: check_assign(c, n); break;
	default: break;
	}
}

void check_block(struct checker *c, struct probe_block *b, const struct lang_point *pt)
{
	c->vars.n = 0;
	c->block = b;
	c->point = pt;
	c->args = NULL;
	c->args_asked = c->point_typed = false;
	c->uses_point = c->asks_probe = false;
	c->callback_depth = 0;
	if (b->pred)
		check_cond(c, b->pred);
	check_list(c, b->body);
}
