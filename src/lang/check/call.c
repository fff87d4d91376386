/* SPDX-License-Identifier: MIT */
/* Calls of functions: the row of the table that a name has, and what it says of arguments. */
#include <string.h>

#include "lang/check/check.h"
#include "lang/parse/parse.h"

bool check_number(struct checker *c, struct node *n, const char *what)
{
	const struct ltype *t = check_expr(c, n);

	if (t->kind == LT_NONE || lt_is_num(t))
		return true;
	check_fail(c, n, "%s wants a number here", what);
	return false;
}

/*
 * Where a constant is wanted, an option may choose between two: getopt("m", false) ? "ms" : "us".
 */
static void check_call_choose(struct node *n)
{
	int64_t v;

	while (n->kind == N_TERN && check_const(n->a, &v))
		*n = v ? *n->b : *n->c;
}

/* Is it a text in quotes? Says so where it is not. */
bool check_literal(struct checker *c, struct node *n, const char *what)
{
	check_expr(c, n);
	check_call_choose(n);
	if (n->kind == N_STR)
		return true;
	check_fail(c, n, "%s wants a text in quotes here", what);
	return false;
}

int64_t check_constant(struct checker *c, struct node *n, const char *what, int64_t min,
		       int64_t max)
{
	int64_t v = min;

	check_expr(c, n);
	check_call_choose(n);
	if (!check_const(n, &v)) {
		if (n->type->kind != LT_NONE || c->final)
			check_fail(c, n, "%s wants a constant here", what);
		return min;
	}
	if (v < min || v > max) {
		check_fail(c, n, "%s wants a number from %lld to %lld here", what, (long long)min,
			   (long long)max);
		return min;
	}
	return v;
}

bool check_whole_map(struct checker *c, struct node *n, const char *what)
{
	if (n->kind != N_MAP) {
		check_fail(c, n, "%s wants a map", what);
		return false;
	}
	n->map = check_map(c, n->s);
	if (c->final && c->p->maps.data[n->map].value->kind == LT_NONE)
		check_fail(c, n, "nothing is ever stored in %s", n->s);
	return true;
}

/* Checks the arguments that the table describes: 'n' a number, 't' a text in quotes. */
static void check_call_args(struct checker *c, struct node *n)
{
	AUTO_STRBUF what = { 0 };

	strbuf_printf(&what, "%s()", n->s);
	for (size_t i = 0; i < n->n; i++)
		if (n->func->args[i] == 'n')
			check_number(c, n->list[i], strbuf_str(&what));
		else
			check_literal(c, n->list[i], strbuf_str(&what));
}

static const struct ltype *check_call_type(struct checker *c, struct node *n)
{
	const struct lang_function *f = n->func;

	if (f->args)
		check_call_args(c, n);
	if (f->check)
		return f->check(c, n);
	if (f->statement)
		return c->nothing;
	return f->gives == LT_INT ? c->u64 : lt_new(c->t, f->gives, f->size);
}

/* Is the number of arguments right, and is --unsafe there where it must be? */
static bool check_call_allowed(struct checker *c, const struct node *n)
{
	const struct lang_function *f = n->func;

	if (n->n < f->min || n->n > f->max) {
		if (f->max == LANG_ARGS_ANY || f->min == f->max)
			check_fail(c, n, "%s() wants %s%u argument%s, not %zu", n->s,
				   f->max == LANG_ARGS_ANY ? "at least " : "", f->min,
				   f->min == 1 ? "" : "s", n->n);
		else
			check_fail(c, n, "%s() wants %u to %u arguments, not %zu", n->s, f->min,
				   f->max, n->n);
		return false;
	}
	if (f->is_unsafe && !c->src->unsafe) {
		check_fail(c, n,
			   n->id == F_DEBUGF ? "%s() writes where all of the kernel does"
					     : "%s() changes what is traced",
			   n->s);
		lang_hint(c->d, "allow it with --unsafe");
	}
	return true;
}

bool check_function_known(struct checker *c, const struct node *n)
{
	struct str_nearest near = { .typed = n->s };

	if (lang_function_find(n->s))
		return true;
	for (size_t i = 0; i < lang_functions_n; i++)
		str_nearest_add(&near, lang_functions[i].name);
	lang_error(c->d, n->pos, (uint32_t)n->slen, "there is no function %s()", n->s);
	lang_hint_near(c->d, &near);
	return false;
}

const struct ltype *check_call(struct checker *c, struct node *n)
{
	bool none = c->void_ok, agg = c->agg_ok;
	const struct ltype *t;

	n->func = lang_function_find(n->s);
	if (!n->func) {
		check_function_known(c, n);
		for (size_t i = 0; i < n->n; i++)
			check_expr(c, n->list[i]);
		return c->none;
	}
	n->id = n->func->id;
	if (!check_call_allowed(c, n))
		return c->none;
	c->void_ok = false;
	c->agg_ok = agg && n->func->gives >= LT_COUNT;
	t = check_call_type(c, n);
	c->agg_ok = agg;
	c->void_ok = none;
	if (n->func->statement && !none)
		check_fail(c, n, "%s() has no value", n->s);
	return t;
}

/* --- what is known before a program runs: predicates that options decide, and what #if asks --- */

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
