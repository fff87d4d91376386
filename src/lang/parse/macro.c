/* SPDX-License-Identifier: MIT */
/*
 * Macros: each use becomes a copy of the macro's body, with its parameters replaced.
 *
 *	macro add($a, n) { $a += n; $a }
 *
 * A $variable stands for a variable of the caller (or gets the value of an
 * expression), a @map for a map of the caller, a plain name for any expression. A
 * macro's own variables are not the caller's, whatever they are called. Its value is
 * the expression at its end, when no ';' stands behind it.
 */
#include "lang/parse/parse.h"

#include <string.h>

#define MACRO_DEPTH 16
#define MACRO_NODES 100000 /* that all uses together become */

struct expander {
	struct ast *ast;
	struct arena *arena;
	struct lang_diags *d;
	unsigned uses, depth, nodes;
};

struct use {
	const struct macro *m;
	struct node **arg; /* by parameter */
	unsigned id;
};

static struct node *macro_expand_node(struct expander *x, struct node *n);

static void expand_children(struct expander *x, struct node *n)
{
	n->a = macro_expand_node(x, n->a);
	n->b = macro_expand_node(x, n->b);
	n->c = macro_expand_node(x, n->c);
	for (size_t i = 0; i < n->n; i++)
		n->list[i] = macro_expand_node(x, n->list[i]);
}

static const struct macro *macro_find(const struct expander *x, const char *name)
{
	for (size_t i = x->ast->macros.n; i-- > 0;)
		if (strcmp(x->ast->macros.data[i].name, name) == 0)
			return &x->ast->macros.data[i];
	return NULL;
}

static struct node *macro_parameter(const struct use *u, const struct node *n)
{
	for (size_t i = 0; i < u->m->n_params; i++)
		if (u->m->param[i]->kind == n->kind && strcmp(u->m->param[i]->s, n->s) == 0)
			return u->arg[i];
	return NULL;
}

/* u NULL: as it is. */
static struct node *macro_copy(struct expander *x, const struct use *u, const struct node *n)
{
	struct node *c, *arg;

	if (!n)
		return NULL;
	if (++x->nodes > MACRO_NODES)
		return (struct node *)n;
	if (u && (n->kind == N_VAR || n->kind == N_IDENT) && (arg = macro_parameter(u, n)))
		return macro_copy(x, NULL, arg);
	c = arena_dup(x->arena, n, sizeof(*n));
	if (u && n->kind == N_MAP && (arg = macro_parameter(u, n)))
		c->s = arg->s;
	if (u && n->kind == N_VAR)
		c->s = arena_printf(x->arena, "%s (%s %u)", n->s, u->m->name, u->id);
	c->a = macro_copy(x, u, n->a);
	c->b = macro_copy(x, u, n->b);
	c->c = macro_copy(x, u, n->c);
	c->list = n->n ? arena_alloc(x->arena, n->n * sizeof(*c->list)) : NULL;
	for (size_t i = 0; i < n->n; i++)
		c->list[i] = macro_copy(x, u, n->list[i]);
	return c;
}

static struct node *new_node(struct expander *x, enum node_kind kind, const struct node *like)
{
	struct node *n = arena_alloc(x->arena, sizeof(*n));

	n->kind = kind;
	n->pos = like->pos;
	n->len = like->len;
	n->map = n->action = -1;
	return n;
}

/* A value for a $parameter: a variable of the use's own holds it. *let is that statement. */
static struct node *macro_held(struct expander *x, const struct use *u, const struct node *param,
			       struct node *value, struct node **let)
{
	struct node *v = new_node(x, N_VAR, value), *n = new_node(x, N_LET, value);

	v->s = arena_printf(x->arena, "%s (%s %u)", param->s, u->m->name, u->id);
	n->a = macro_copy(x, NULL, v);
	n->b = value;
	*let = n;
	return v;
}

static bool macro_bind(struct expander *x, struct use *u, struct node *call, struct node **lets,
		       size_t *n_lets)
{
	for (size_t i = 0; i < u->m->n_params; i++) {
		const struct node *p = u->m->param[i];
		struct node *a = call->list[i];

		u->arg[i] = a;
		if (p->kind == N_MAP && (a->kind != N_MAP || a->n)) {
			lang_error(x->d, a->pos, a->len, "%s() wants a whole map for %s",
				   u->m->name, p->s);
			return false;
		}
		if (p->kind == N_VAR && a->kind != N_VAR)
			u->arg[i] = macro_held(x, u, p, a, &lets[(*n_lets)++]);
	}
	return true;
}

static struct node *expand_call(struct expander *x, struct node *call, const struct macro *m)
{
	struct use u = { .m = m, .id = ++x->uses };
	struct node *n = new_node(x, N_DO, call), *body;
	size_t lets = 0, count;

	if (call->n != m->n_params) {
		lang_error(x->d, call->pos, call->len, "%s() wants %zu argument%s, not %zu",
			   m->name, m->n_params, m->n_params == 1 ? "" : "s", call->n);
		return call;
	}
	if (x->depth >= MACRO_DEPTH || x->nodes > MACRO_NODES) {
		lang_error(x->d, call->pos, call->len,
			   x->depth >= MACRO_DEPTH ? "the macro %s() uses itself"
						   : "the uses of %s() make the program too large",
			   m->name);
		return call;
	}
	u.arg = arena_alloc(x->arena, (m->n_params + 1) * sizeof(*u.arg));
	n->list = arena_alloc(x->arena, (m->n_params + m->body->n + 1) * sizeof(*n->list));
	if (!macro_bind(x, &u, call, n->list, &lets))
		return call;
	body = macro_copy(x, &u, m->body);
	count = body->n;
	if (body->v && count) /* what stands last is the value */
		n->a = body->list[--count]->a;
	for (size_t i = 0; i < count; i++)
		n->list[lets + i] = body->list[i];
	n->n = lets + count;
	x->depth++;
	expand_children(x, n);
	x->depth--;
	return n;
}

static struct node *macro_expand_node(struct expander *x, struct node *n)
{
	const struct macro *m;

	if (!n)
		return NULL;
	if (n->kind == N_CALL && (m = macro_find(x, n->s))) {
		for (size_t i = 0; i < n->n; i++)
			n->list[i] = macro_expand_node(x, n->list[i]);
		return expand_call(x, n, m);
	}
	expand_children(x, n);
	return n;
}

void macro_expand(struct ast *t, struct arena *a, struct lang_diags *d)
{
	struct expander x = { .ast = t, .arena = a, .d = d };

	if (!t->macros.n)
		return;
	vec_each (&t->blocks, b) {
		b->pred = macro_expand_node(&x, b->pred);
		b->body = macro_expand_node(&x, b->body);
	}
}
