/* SPDX-License-Identifier: MIT */
/* Functions that print: printf() and its like, print(), table(), histogram(), stacks(). */
#include <string.h>

#include "lang/check/check.h"

/* %s of a char * is the text it points to: as if str() stood there. */
static const struct ltype *check_printf_text(struct checker *c, struct node **n)
{
	struct node *str = arena_alloc(&c->p->arena, sizeof(*str));

	*str = (struct node){ .kind = N_CALL, .s = "str", .pos = (*n)->pos, .len = (*n)->len };
	str->map = -1;
	str->list = arena_alloc(&c->p->arena, sizeof(*str->list));
	str->list[0] = *n;
	str->n = 1;
	*n = str;
	return check_expr(c, str);
}

/* Behind a '%': the conversion's letter ('\0': the text ends first); s is on its last byte then. */
static char check_printf_letter(const char **s)
{
	char letter;

	*s += strspn(*s, "-+ #0");
	if (**s == '*')
		return '*';
	*s += strspn(*s, "0123456789");
	if (**s == '.')
		*s += 1 + strspn(*s + 1, "0123456789");
	*s += strspn(*s, "hlzjt");
	letter = **s;
	if (letter == 'r' && ((*s)[1] == 'x' || (*s)[1] == 'h'))
		++*s; /* bytes in hexadecimal */
	return letter;
}

/* Does the conversion fit what is to be printed? */
static void check_printf_arg(struct checker *c, char letter, struct node **arg)
{
	const struct ltype *t = (*arg)->type;
	AUTO_STRBUF b = { 0 };
	bool ok;

	if (t->kind == LT_NONE)
		return;
	if (letter == 's' && t->kind == LT_PTR && t->elem->kind == LT_INT && t->elem->size == 1)
		t = check_printf_text(c, arg);
	switch (letter) {
	case 's': ok = !lt_is_num(t) || t->is_bool || t->enum_name; break;
	case 'r': ok = t->kind == LT_BUF || t->kind == LT_STRING; break;
	case 'c': ok = lt_is_num(t) || t->kind == LT_STRING; break;
	case 'p': ok = lt_is_num(t) || t->kind == LT_KSYM || t->kind == LT_USYM; break;
	default:
		ok = lt_is_num(t) || t->kind == LT_USERNAME || t->kind == LT_KSYM ||
		     t->kind == LT_PROBE || t->kind == LT_STRERROR || t->kind == LT_TIMESTAMP;
	}
	if (ok)
		return;
	lt_text(t, &b);
	check_fail(c, *arg, "%%%c does not fit %s", letter, strbuf_str(&b));
	lang_hint(c->d, lt_is_num(t) ? "numbers are printed with %%d, %%u or %%x; "
				       "str() reads a text from an address"
				     : "print it with %%s");
}

/* Conversions of a format against the arguments behind it. */
const struct ltype *check_printf(struct checker *c, struct node *n)
{
	struct node *f = n->list[0];
	size_t arg = 1;

	if (!check_literal(c, f, n->s))
		return c->nothing;
	for (size_t i = 1; i < n->n; i++) {
		const struct ltype *t = check_expr(c, n->list[i]);

		check_fill_all(c, t, 0);
		if (t->kind == LT_VOID || lt_is_agg(t))
			check_fail(c, n->list[i], "this cannot be printed by %s", n->s);
	}
	for (const char *s = f->s; (s = strchr(s, '%')); s++) {
		char letter;

		s++;
		if (*s == '%')
			continue;
		letter = check_printf_letter(&s);
		if (letter == '*') {
			check_fail(c, f, "'*' as a width is not supported");
			return c->nothing;
		}
		if (!letter || !strchr("diuxXoscprbBhl", letter)) {
			check_fail(c, f,
				   letter ? "'%%%c' is no conversion"
					  : "the format ends in the middle of a conversion",
				   letter);
			lang_hint(c->d, "%%d %%u %%x %%p %%s %%c %%r are known");
			return c->nothing;
		}
		if (arg >= n->n) {
			check_fail(c, n, "%s has too few arguments for its format", n->s);
			return c->nothing;
		}
		check_printf_arg(c, letter, &n->list[arg++]);
	}
	if (arg < n->n)
		check_fail(c, n->list[arg], "%s has more arguments than its format", n->s);
	return c->nothing;
}

const struct ltype *check_print(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];
	const struct ltype *t;

	if (a->kind == N_MAP && !a->n) {
		check_whole_map(c, a, "print()");
		a->type = c->p->maps.data[a->map].value;
		for (size_t i = 1; i < n->n; i++)
			check_constant(c, n->list[i], "print()", 0, INT64_MAX);
		n->v = 1; /* the whole map */
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

/* table(@map, "COLUMN ... VALUE"[, top[, div]]): as many names as there are columns. */
const struct ltype *check_table(struct checker *c, struct node *n)
{
	struct node *a = n->list[0];
	const struct lang_map *m = whole_map(c, n);
	uint32_t want, have = 0;

	if (a->kind != N_MAP || a->n || !check_literal(c, n->list[1], "table()"))
		return c->nothing;
	for (size_t i = 2; i < n->n; i++)
		check_constant(c, n->list[i], "table()", 0, INT64_MAX);
	if (!m)
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
