/* SPDX-License-Identifier: MIT */
/* What is known before a program runs: predicates that options decide, and what #if asks about. */
#include <string.h>

#include "lang/check/check.h"
#include "lang/parse/parse.h"

int decide_truth(const struct node *n)
{
	int64_t v;
	int a, b;

	if (check_const(n, &v))
		return v != 0;
	if (n->kind == N_UN && n->op == '!') {
		a = decide_truth(n->a);
		return a < 0 ? a : !a;
	}
	if (n->kind != N_BIN)
		return -1;
	if ((n->op == T_EQ || n->op == T_NE) && n->a->kind == N_STR && n->b->kind == N_STR)
		return (strcmp(n->a->s, n->b->s) == 0) == (n->op == T_EQ);
	if (n->op != T_AND && n->op != T_OR)
		return -1;
	a = decide_truth(n->a);
	b = decide_truth(n->b);
	if (a == (n->op == T_OR) || b == (n->op == T_OR)) /* either decides */
		return n->op == T_OR;
	return a < 0 || b < 0 ? -1 : n->op == T_AND;
}

bool decide_never(const struct probe_block *b)
{
	return b->pred && decide_truth(b->pred) == 0;
}

static bool has_field(struct checker *c, const char *text)
{
	const char *dot = strchr(text, '.');
	const struct ltype *t;
	uint32_t offset;

	if (!c->env->type)
		return false;
	t = c->env->type(c->env->ctx, c->t,
			 dot ? arena_strndup(&c->p->arena, text, (size_t)(dot - text)) : text);
	if (!t || !dot)
		return t != NULL;
	check_fill(c, t);
	return t->kind == LT_RECORD && lt_field(t->rec, dot + 1, &offset);
}

static int one_more(void *arg, const char *target, const char *name)
{
	(void)target;
	(void)name;
	++*(size_t *)arg;
	return 0;
}

bool decide_has(void *checker, const char *text)
{
	struct checker *c = checker;
	struct lang_point p;
	struct err e = { 0 };
	char instead[256];
	size_t n = 0;

	if (str_starts(text, "struct ") || str_starts(text, "union "))
		return has_field(c, text);
	if (!lang_point_parse(text, &c->p->arena, &p, &e) ||
	    (c->env->refused && c->env->refused(c->env->ctx, &p, instead, sizeof(instead))))
		return false;
	return !c->env->match || (c->env->match(c->env->ctx, &p, one_more, &n, &e) >= 0 && n > 0);
}
