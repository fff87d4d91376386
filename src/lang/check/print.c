/* SPDX-License-Identifier: MIT */
/* Functions that print whole maps: print(), table(), histogram(), stacks(). */
#include <string.h>

#include "lang/check/func.h"

const struct ltype *check_print(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];
	const struct ltype *t;

	if (a->kind == N_MAP && !a->n) {
		check_whole_map(c, a, "print()");
		a->type = c->p->maps.data[a->map].value;
		if (c->p->maps.data[a->map].key || n->n > 1 || lt_is_agg(a->type)) {
			for (size_t i = 1; i < n->n; i++)
				check_constant(c, n->list[i], "print()", 0, INT64_MAX);
			n->v = 1; /* the whole map */
			return c->nothing;
		}
		n->v = 1;
		return c->nothing;
	}
	n->v = 0;
	t = check_expr(c, a);
	check_fill_all(c, t, 0);
	if (n->n > 1)
		check_fail(c, n->list[1], "only whole maps can be cut or divided");
	if (t->kind == LT_VOID || lt_is_agg(t))
		return check_fail(c, a, "this value cannot be printed by itself");
	return c->nothing;
}

/* table(@map, "COLUMN ... VALUE"[, top[, div]]): as many names as there are columns. */
const struct ltype *check_table(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];
	const struct lang_map *m;
	uint32_t want, have = 0;

	if (a->kind != N_MAP || a->n)
		return check_fail(c, a, "table() wants a whole map");
	check_whole_map(c, a, "table()");
	if (!check_literal(c, n->list[1], "table()"))
		return c->nothing;
	for (size_t i = 2; i < n->n; i++)
		check_constant(c, n->list[i], "table()", 0, INT64_MAX);
	m = &c->p->maps.data[a->map];
	if (!m->value || m->value->kind == LT_NONE || !c->final)
		return c->nothing;
	if (!m->key)
		return check_fail(c, a, "table() wants a map with keys");
	for (uint32_t i = 0; i < m->key->n; i++)
		if (lt_is_stack(m->key->item[i]))
			return check_fail(c, a, "a stack does not fit into a row: print(%s)", a->s);
	if (!lt_is_num(m->value) && (!lt_is_agg(m->value) || m->value->kind == LT_HIST ||
				     m->value->kind == LT_LHIST || m->value->kind == LT_TSERIES))
		return check_fail(c, a, "table() shows numbers; print(%s) shows this", a->s);
	want = m->key->n + (m->value->kind == LT_STATS ? 3 : 1);
	for (const char *s = n->list[1]->s; s[strspn(s, " ")]; have++) {
		s += strspn(s, " ");
		s += strcspn(s, " ");
	}
	if (have != want || want > 16)
		return check_fail(c, n->list[1], "%s has %u columns, not %u", a->s, want, have);
	return c->nothing;
}

/* A map without its keys; NULL when it is none, or not known yet. */
static const struct lang_map *whole_map(struct checker *c, struct node *n)
{
	const struct lang_map *m;
	struct node *a = n->list[0];

	if (a->kind != N_MAP || a->n) {
		check_fail(c, a, "%s() wants a whole map", n->s);
		return NULL;
	}
	check_whole_map(c, a, n->s);
	m = &c->p->maps.data[a->map];
	return m->value && m->value->kind != LT_NONE && c->final ? m : NULL;
}

/* histogram(@map, "UNIT"[, "KEY"]) */
const struct ltype *check_histogram(struct checker *c, struct node *n)
{
	const struct lang_map *m = whole_map(c, n);
	enum lt_kind kind;

	for (size_t i = 1; i < n->n; i++)
		if (!check_literal(c, n->list[i], "histogram()"))
			return c->nothing;
	if (!m)
		return c->nothing;
	kind = m->value->kind;
	if (kind == LT_LHIST && strstr(n->list[1]->s, " .. "))
		return check_fail(c, n->list[1], "rows of lhist() include their upper bounds");
	if (kind != LT_HIST && kind != LT_LHIST &&
	    ((kind != LT_COUNT && kind != LT_SUM && kind != LT_INT) || !m->key || m->key->n != 1 ||
	     m->key->item[0]->kind != LT_INT))
		return check_fail(c, n->list[0],
				  "histogram() wants values of hist() or lhist(), or counts by "
				  "where their rows begin");
	return c->nothing;
}

/* stacks(@map[, folded[, delimited[, annotated]]]) */
const struct ltype *check_stacks(struct checker *c, struct node *n)
{
	const struct lang_map *m = whole_map(c, n);
	bool any = false;

	for (size_t i = 1; i < n->n; i++)
		n->v |= check_constant(c, n->list[i], "stacks()", 0, 1) << (i - 1);
	if (!m)
		return c->nothing;
	for (uint32_t i = 0; m->key && i < m->key->n; i++)
		any |= lt_is_stack(m->key->item[i]);
	if (!any)
		return check_fail(c, n->list[0], "%s has no stack in its key", n->list[0]->s);
	if (m->value->kind == LT_HIST || m->value->kind == LT_LHIST || m->value->kind == LT_TSERIES)
		return check_fail(c, n->list[0], "stacks() shows numbers; print(%s) shows this",
				  n->list[0]->s);
	return c->nothing;
}

/* file_number("FILE", "WORD"[, div]): looked up when it is shown. */
const struct ltype *check_file_number(struct checker *c, struct node *n)
{
	struct ltype *t = lt_new(c->t, LT_NAME, 8);

	t->n = LANG_NAME_FILE;
	n->v = n->n > 2 ? check_constant(c, n->list[2], "file_number()", 1, INT64_MAX) : 1;
	if (!check_literal(c, n->list[0], "file_number()") ||
	    !check_literal(c, n->list[1], "file_number()"))
		return c->nothing;
	t->format = arena_printf(&c->p->arena, "%s\n%s", n->list[0]->s, n->list[1]->s);
	return t;
}
