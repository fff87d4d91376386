/* SPDX-License-Identifier: MIT */
/* Maps and variables: their types come from what is stored in them, in the whole program. */
#include "lang/check/check.h"

#include <string.h>

static bool same_type(const struct ltype *a, const struct ltype *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->size != b->size || a->is_signed != b->is_signed ||
	    !a->enum_name != !b->enum_name || (a->enum_name && !lt_same_enum(a, b)))
		return false;
	if (a->kind == LT_TUPLE)
		for (uint32_t i = 0; i < a->n; i++)
			if (!same_type(a->item[i], b->item[i]))
				return false;
	return true;
}

int check_map(struct checker *c, const char *name)
{
	for (size_t i = LANG_MAP_FIXED; i < c->p->maps.n; i++)
		if (c->p->maps.data[i].name && strcmp(c->p->maps.data[i].name, name) == 0)
			return (int)i;
	vec_push(&c->p->maps, (struct lang_map){ .name = name, .value = c->none });
	c->changed = true;
	return (int)c->p->maps.n - 1;
}

/* How integers and arrays are kept in keys and map values. */
const struct ltype *check_stored(struct checker *c, const struct ltype *t)
{
	if (t->kind == LT_INT && t->enum_name && t->size < 8) { /* it keeps its names */
		struct ltype *s = arena_dup(&c->p->arena, t, sizeof(*t));

		s->size = 8;
		return s;
	}
	if (t->kind == LT_INT && !t->is_bool && !t->enum_name)
		return t->is_signed ? c->i64 : c->u64;
	if (t->kind == LT_RECORD || t->kind == LT_ARRAY) {
		check_fill_all(c, t, 0);
		return lt_in(c->t, t, LS_BPF);
	}
	if (t->kind == LT_PTR && (t->space == LS_CTX || t->space == LS_TRUSTED))
		return lt_ptr(c->t, t->elem, LS_KERNEL); /* read from a map it is a number */
	if (t->kind == LT_STRING && t->space != LS_BPF)
		return lt_string(c->t, t->size);
	return t;
}

void check_map_keys(struct checker *c, struct node *n)
{
	const struct ltype *item[32], *key, *merged;
	struct lang_map *m;
	uint32_t count = 0;

	n->map = check_map(c, n->s);
	if (n->n > ARRAY_SIZE(item)) {
		check_fail(c, n, "a map has at most %zu keys", ARRAY_SIZE(item));
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		const struct ltype *t = check_expr(c, n->list[i]);

		if (t->kind == LT_NONE && !c->final)
			return;
		if (t->kind == LT_VOID || lt_is_agg(t) || t->kind == LT_NONE) {
			if (t->kind != LT_NONE)
				check_fail(c, n->list[i], "this cannot be the key of a map");
			return;
		}
		if (n->n == 1 && t->kind == LT_TUPLE) { /* @x[(1, 2)] and @x[1, 2] are the same */
			for (uint32_t k = 0; k < t->n && count < ARRAY_SIZE(item); k++)
				item[count++] = check_stored(c, t->item[k]);
		} else {
			item[count++] = check_stored(c, t);
		}
	}
	key = count ? lt_tuple(c->t, item, count) : NULL;
	m = &c->p->maps.data[n->map];
	if (!m->key && !m->key_size) { /* first use: key_size marks that it was seen */
		m->key = key;
		m->key_size = key ? key->size : 4;
		c->changed = true;
		return;
	}
	if (!key != !m->key) {
		if (c->final)
			check_fail(c, n, "%s is used with%s a key elsewhere", n->s,
				   key ? "out" : "");
		return;
	}
	if (!key)
		return;
	merged = check_merge(c, m->key, key);
	if (!merged) {
		check_fail(c, n, "%s has keys %s elsewhere, not %s", n->s, check_text(c, m->key),
			   check_text(c, key));
	} else if (!same_type(merged, m->key)) {
		m->key = merged;
		m->key_size = merged->size;
		c->changed = true;
	}
}

void check_assign_map(struct checker *c, struct node *n, const struct ltype *t)
{
	struct lang_map *m = &c->p->maps.data[n->a->map];
	const struct ltype *merged;

	if (t->kind == LT_NONE)
		return;
	if (t->kind == LT_VOID) {
		check_fail(c, n->b, "this has no value");
		return;
	}
	t = check_stored(c, t);
	if (m->value->kind == LT_NONE) {
		m->value = t;
		c->changed = true;
		return;
	}
	merged = check_merge(c, m->value, t);
	if (!merged ||
	    (m->value->kind == LT_LHIST &&
	     (m->value->min != t->min || m->value->max != t->max || m->value->step != t->step)) ||
	    (m->value->kind == LT_HIST && m->value->step != t->step)) {
		check_fail(c, n, "%s holds %s elsewhere, not %s", n->a->s, check_text(c, m->value),
			   check_text(c, t));
	} else if (!same_type(merged, m->value)) {
		m->value = merged;
		c->changed = true;
	}
}

static struct lvar *find_var(struct checker *c, const char *name)
{
	for (size_t i = c->vars.n; i-- > 0;)
		if (c->vars.data[i] && strcmp(c->vars.data[i]->name, name) == 0)
			return c->vars.data[i];
	return NULL;
}

struct lvar *check_new_var(struct checker *c, struct node *n, const struct ltype *t)
{
	/* Checked again, the node keeps its variable, with the type found so far. */
	struct lvar *v = n->var;

	if (!v) {
		v = arena_alloc(&c->p->arena, sizeof(*v));
		v->type = t;
	}
	if (v->gen != c->gen) {
		v->gen = c->gen;
		v->type = t;
	}
	v->name = n->s;
	v->pos = n->pos;
	v->loop_depth = c->callback_depth;
	n->var = v;
	vec_push(&c->vars, v);
	return v;
}

void check_assign_var(struct checker *c, struct node *n, const struct ltype *t, bool declare)
{
	struct lvar *v = declare ? NULL : find_var(c, n->s);
	const struct ltype *merged;

	if (t->kind == LT_VOID || lt_is_agg(t)) {
		check_fail(c, n,
			   t->kind == LT_VOID ? "this has no value for %s"
					      : "only a map can hold what is given to %s",
			   n->s);
		t = c->none;
	}
	if (t->kind == LT_RECORD || t->kind == LT_ARRAY || t->kind == LT_STRING)
		t = check_stored(c, t);
	if (!v) {
		v = check_new_var(c, n, t);
		if (v->type->kind == LT_NONE)
			v->type = t;
	}
	n->var = v;
	n->type = v->type;
	if (v->loop_depth < c->callback_depth)
		v->used_in_callback = true;
	merged = check_merge(c, v->type, t);
	if (!merged) {
		check_fail(c, n, "%s is %s, and cannot become %s", n->s, check_text(c, v->type),
			   check_text(c, t));
	} else if (v->type->kind == LT_NONE ||
		   (!lt_is_num(v->type) && !same_type(merged, v->type))) {
		v->type = merged;
		c->changed = true;
	} else if (v->type->kind == LT_INT && merged->is_signed && !v->type->is_signed) {
		v->type = merged;
		c->changed = true;
	}
	n->type = v->type;
}

const struct ltype *check_var(struct checker *c, struct node *n)
{
	struct lvar *v = find_var(c, n->s);
	struct str_nearest near = { .typed = n->s };

	if (v) {
		n->var = v;
		if (v->loop_depth < c->callback_depth)
			v->used_in_callback = true;
		return v->type;
	}
	check_fail(c, n, "%s has no value here", n->s);
	vec_each (&c->vars, it)
		if (*it)
			str_nearest_add(&near, (*it)->name);
	lang_hint_near(c->d, &near);
	return c->none;
}

const struct ltype *check_map_read(struct checker *c, struct node *n)
{
	const struct ltype *t;

	check_map_keys(c, n);
	t = c->p->maps.data[n->map].value;
	if (t->kind == LT_NONE && c->final) {
		struct str_nearest near = { .typed = n->s };

		check_fail(c, n, "nothing is ever stored in %s", n->s);
		for (size_t i = LANG_MAP_FIXED; i < c->p->maps.n; i++)
			if (c->p->maps.data[i].value->kind != LT_NONE && c->p->maps.data[i].name)
				str_nearest_add(&near, c->p->maps.data[i].name);
		lang_hint_near(c->d, &near);
	}
	switch (t->kind) { /* aggregations that have one number can be read */
	case LT_COUNT: return c->u64;
	case LT_SUM:
	case LT_MIN:
	case LT_MAX:
	case LT_AVG: return t->is_signed ? c->i64 : c->u64;
	default: return t;
	}
}
