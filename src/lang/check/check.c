/* SPDX-License-Identifier: MIT */
/*
 * Types of expressions and statements.
 *
 * Maps get their types from how the whole program uses them, so blocks are
 * checked again and again, quietly, until nothing changes; then once more aloud.
 * A block whose probes have different arguments is checked for each of them.
 */
#include "lang/check/check.h"
#include "lang/parse/parse.h"

#include <ctype.h>
#include <string.h>

void check_init(struct checker *c, struct lang_program *p, const struct lang_env *env,
		struct ast *ast, const struct lang_source *src, struct lang_diags *d)
{
	*c = (struct checker){ .p = p, .env = env, .ast = ast, .src = src, .d = d, .t = &p->types };
	c->i64 = lt_int(c->t, 8, true);
	c->u64 = lt_int(c->t, 8, false);
	c->none = lt_new(c->t, LT_NONE, 8);
	c->nothing = lt_new(c->t, LT_VOID, 0);
	c->boolean = lt_bool(c->t);
}

void check_free(struct checker *c)
{
	vec_free(&c->vars);
}

/*
 * Does its type come from a map or variable whose first value may be in a statement with a mistake?
 */
static bool check_hangs(const struct node *n, const void *checker)
{
	const struct checker *c = checker;

	if (n->kind == N_MAP)
		return n->map < 0 || c->p->maps.data[n->map].value->kind == LT_NONE;
	if (n->kind == N_VAR)
		return n->var ? n->var->type->kind == LT_NONE : c->block->holed;
	return false;
}

const struct ltype *check_fail(struct checker *c, const struct node *n, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (c->partial && node_find(n, check_hangs, c))
		c->d->unsaid = true;
	else
		lang_error(c->d, n->pos, n->len, "%s", strbuf_str(&b));
	strbuf_free(&b);
	return c->none;
}

void check_no_types(struct checker *c)
{
	const char *why = c->env->no_types ? c->env->no_types(c->env->ctx) : NULL;

	if (why)
		lang_hint(c->d, "%s: define in the program what it uses", why);
}

const char *check_text(struct checker *c, const struct ltype *t)
{
	AUTO_STRBUF b = { 0 };

	lt_text(t, &b);
	return arena_strdup(&c->p->arena, strbuf_str(&b));
}

bool check_const(const struct node *n, int64_t *v)
{
	if (n->kind != N_INT && !n->folded)
		return false;
	*v = n->v;
	return true;
}

void check_fill(struct checker *c, const struct ltype *t)
{
	if (t && t->kind == LT_RECORD && !t->rec->filled) {
		t->rec->filled = true;
		if (c->env->fill)
			c->env->fill(c->env->ctx, c->t, t->rec);
	}
}

void check_fill_all(struct checker *c, const struct ltype *t, unsigned depth)
{
	while (t->kind == LT_ARRAY)
		t = t->elem;
	if (t->kind != LT_RECORD || depth > 8)
		return;
	check_fill(c, t);
	for (size_t i = 0; i < t->rec->n; i++)
		check_fill_all(c, t->rec->field[i].type, depth + 1);
}

void check_depth(struct checker *c, uint32_t depth)
{
	depth = depth + LANG_OWN_FRAMES < 127 ? depth + LANG_OWN_FRAMES : 127;
	if (c->p->stack_depth < depth)
		c->p->stack_depth = depth;
}

enum lt_space check_space(const struct checker *c)
{
	if (lang_kinds[c->point->kind].flags & LANG_KIND_USER)
		return LS_USER;
	if (c->point->kind != LP_TRACEPOINT)
		return LS_ANY;
	return str_starts(c->point->target, "syscalls") ||
			       strcmp(c->point->target, "raw_syscalls") == 0
		       ? LS_USER
		       : LS_KERNEL;
}

const struct ltype *check_merge(struct checker *c, const struct ltype *a, const struct ltype *b)
{
	if (a->kind == LT_NONE)
		return b;
	if (b->kind == LT_NONE)
		return a;
	if (!lt_fits(a, b))
		return NULL;
	if (a->kind == LT_INT && b->kind == LT_INT) {
		if (a->is_bool && b->is_bool)
			return a;
		if (a->enum_name || b->enum_name) { /* the number is one of its values */
			const struct ltype *e = check_stored(c, a->enum_name ? a : b);
			bool mixed = a->enum_name && b->enum_name && !lt_same_enum(a, b);
			struct ltype *both;

			if (!mixed && (e->is_signed || (!a->is_signed && !b->is_signed)))
				return e;
			both = arena_dup(&c->p->arena, e, sizeof(*e));
			both->is_signed = a->is_signed || b->is_signed;
			if (mixed) /* the two enums have different names for a value */
				both->n = 0;
			return both;
		}
		return a->is_signed || b->is_signed ? c->i64 : c->u64;
	}
	if (a->kind == LT_PTR || b->kind == LT_PTR)
		return a->kind == LT_PTR ? a : b;
	if (a->kind == LT_TUPLE) {
		const struct ltype **item = arena_alloc(&c->p->arena, a->n * sizeof(*item) + 1);
		bool same = true;

		for (uint32_t i = 0; i < a->n; i++) {
			item[i] = check_merge(c, a->item[i], b->item[i]);
			if (!item[i])
				return NULL;
			same &= item[i] == a->item[i];
		}
		return same ? a : lt_tuple(c->t, item, a->n);
	}
	return a->size >= b->size ? a : b;
}

/* What a pointer in memory points to is where the memory is, unless its type says otherwise. */
static enum lt_space behind_field(const struct checker *c, enum lt_space space,
				  const struct ltype *f)
{
	switch (space) {
	case LS_USER: return LS_USER;
	case LS_CTX: return f->space == LS_BPF ? check_space(c) : f->space;
	case LS_BPF: /* the copy is the program's own memory */
		return f->space == LS_USER || f->space == LS_KERNEL ? f->space : LS_ANY;
	default: return LS_KERNEL;
	}
}

static const struct ltype *check_field(struct checker *c, struct node *n)
{
	struct str_nearest near = { .typed = n->s };
	const struct ltype *t, *f;
	enum lt_space space;

	c->args_field = true;
	t = check_expr(c, n->a);
	c->args_field = false;
	space = t->space;
	if (t->kind == LT_NONE)
		return t;
	if (t->kind == LT_TUPLE) {
		uint64_t i;

		if (!str_u64(n->s, &i) || i >= t->n)
			return check_fail(c, n, "this tuple has items .0 to .%u", t->n - 1);
		n->offset = t->offset[i];
		return t->item[i];
	}
	if (t->kind == LT_PTR)
		t = t->elem;
	if (n->a->kind == N_INT && n->s[0] >= '0' && n->s[0] <= '9') {
		check_fail(c, n, "numbers are whole here, without a fraction");
		lang_hint(c->d, "count in a smaller unit: 1500 us, not 1.5 ms");
		return c->none;
	}
	if (t->kind != LT_RECORD) {
		check_fail(c, n, "%s has no fields", check_text(c, t));
		if (n->a->kind == N_IDENT && n->a->id == B_CURTASK)
			check_no_types(c);
		return c->none;
	}
	check_fill(c, t);
	n->field = lt_field(t->rec, n->s, &n->offset);
	if (!n->field) {
		if (!t->rec->n) {
			check_fail(c, n, "%s is not known here", t->rec->name);
			check_no_types(c);
			return c->none;
		}
		check_fail(c, n, "%s has no field '%s'", *t->rec->name ? t->rec->name : "this",
			   n->s);
		for (size_t i = 0; i < t->rec->n; i++)
			if (t->rec->field[i].name[0] != '$')
				str_nearest_add(&near, t->rec->field[i].name);
		lang_hint_near(c->d, &near);
		return c->none;
	}
	f = n->field->type;
	check_fill(c, f);
	if (n->field->data_loc)
		return lt_ptr(c->t, lt_int(c->t, 1, true), c->env->recorded ? LS_ANY : LS_KERNEL);
	if (f->kind == LT_PTR)
		return lt_ptr(c->t, f->elem, behind_field(c, space, f));
	if (f->kind == LT_STRING && space != LS_BPF) {
		struct ltype *s = arena_dup(&c->p->arena, f, sizeof(*f));

		s->space = space;
		return s;
	}
	return lt_in(c->t, f, space);
}

static const struct ltype *check_index(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->a), *i = check_expr(c, n->b);
	int64_t v;

	if (t->kind == LT_NONE)
		return t;
	if (t->kind != LT_ARRAY && t->kind != LT_PTR)
		return check_fail(c, n->a, "%s cannot be indexed", check_text(c, t));
	if (i->kind != LT_INT && i->kind != LT_NONE)
		return check_fail(c, n->b, "an index is a number");
	if (t->kind == LT_ARRAY && t->n && check_const(n->b, &v) && (v < 0 || v >= t->n))
		return check_fail(c, n->b, "the array has elements 0 to %u", t->n - 1);
	check_fill(c, t->elem);
	if (t->elem->kind == LT_PTR)
		return lt_ptr(c->t, t->elem->elem, t->space == LS_USER ? LS_USER : LS_KERNEL);
	return lt_in(c->t, t->elem, t->space);
}

const struct ltype *check_no_pointer(struct checker *c, const struct node *n, int op)
{
	char buf[16];

	check_fail(c, n, "%s is not possible with a pointer", lex_name(op, buf, sizeof(buf)));
	lang_hint(c->d, "numbers can be added to it; (uint64) makes a number of it");
	return c->none;
}

static const struct ltype *check_unary(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->a);
	int64_t v;

	if (t->kind == LT_NONE)
		return t;
	if (n->op == '*') {
		if (t->kind == LT_INT) /* an address, read as a number */
			return c->u64;
		if (t->kind != LT_PTR)
			return check_fail(c, n, "%s is no pointer", check_text(c, t));
		check_fill(c, t->elem);
		if (t->elem->kind == LT_VOID)
			return check_fail(c, n, "a void pointer has no value to read");
		if (t->elem->kind == LT_PTR)
			return lt_ptr(c->t, t->elem->elem, t->space);
		return lt_in(c->t, t->elem, t->space);
	}
	if (n->op == '&')
		return check_fail(c, n, "taking an address is not supported");
	if (t->kind == LT_PTR && n->op != '!')
		return check_no_pointer(c, n, n->op);
	if (!lt_is_num(t))
		return check_fail(c, n, "'%c' wants a number, not %s", n->op, check_text(c, t));
	if (check_const(n->a, &v)) {
		n->folded = true;
		n->v = n->op == '-' ? (int64_t) - (uint64_t)v : n->op == '~' ? ~v : !v;
	}
	return n->op == '!'	   ? c->i64
	       : n->op == '-'	   ? c->i64
	       : t->kind == LT_PTR ? c->u64
	       : t->is_signed	   ? c->i64
				   : c->u64;
}

static void check_fold(struct node *n, bool is_signed)
{
	int64_t a, b;

	if (check_const(n->a, &a) && check_const(n->b, &b))
		n->folded |= parse_fold(n->op, a, b, is_signed, &n->v);
}

/* As C has it, the truth of something is an int. */
static bool has_sign(const struct ltype *t)
{
	return t->is_signed || t->is_bool;
}

/* Pointer plus or minus a number, or the distance between two pointers in elements. */
static const struct ltype *pointer_sum(struct checker *c, struct node *n, const struct ltype *a,
				       const struct ltype *b)
{
	n->folded = false; /* steps are as wide as what it points to */
	check_fill(c, a->kind == LT_PTR ? a->elem : b->elem);
	if (a->kind == LT_PTR && b->kind == LT_INT && (n->op == '+' || n->op == '-'))
		return a;
	if (b->kind == LT_PTR && a->kind == LT_INT && n->op == '+')
		return b;
	if (a->kind != LT_PTR || b->kind != LT_PTR || n->op != '-')
		return check_no_pointer(c, n, n->op);
	check_fill(c, b->elem);
	if (lt_step(a) != lt_step(b))
		return check_fail(c, n, "these point to things of different sizes: %s and %s",
				  check_text(c, a), check_text(c, b));
	return c->i64;
}

static const struct ltype *check_binary(struct checker *c, struct node *n)
{
	const struct ltype *a = check_expr(c, n->a), *b = check_expr(c, n->b);
	bool compare = n->op == T_EQ || n->op == T_NE, is_signed;
	bool order = n->op == '<' || n->op == '>' || n->op == T_LE || n->op == T_GE;
	bool logic = n->op == T_AND || n->op == T_OR;
	int64_t v;

	if (a->kind == LT_NONE || b->kind == LT_NONE)
		return logic || compare || order || c->guess ? c->i64 : c->none;
	if (a->kind == LT_STRING && b->kind == LT_STRING && compare)
		return c->i64;
	if ((a->kind == LT_PROBE && b->kind == LT_STRING && compare))
		return c->i64;
	if (compare && a->kind == b->kind &&
	    (a->kind == LT_INET || a->kind == LT_MAC || a->kind == LT_USYM || a->kind == LT_TUPLE ||
	     a->kind == LT_KSYM || a->kind == LT_USERNAME || a->kind == LT_BUF ||
	     a->kind == LT_ARRAY || lt_is_stack(a)))
		return lt_stored(a) == lt_stored(b)
			       ? c->i64
			       : check_fail(c, n, "these two have different sizes");
	if (!lt_is_num(a) || !lt_is_num(b)) {
		AUTO_STRBUF op = { 0 };
		char buf[16];

		strbuf_puts(&op, lex_name(n->op, buf, sizeof(buf)));
		check_fail(c, n, "%s is not possible between %s and %s", strbuf_str(&op),
			   check_text(c, a), check_text(c, b));
		if (a->kind == LT_STRING && b->kind == LT_STRING)
			lang_hint(c->d,
				  "strings can be compared with == and !=, and with strncmp()");
		return compare || order || logic ? c->i64 : c->none;
	}
	is_signed = has_sign(a) && has_sign(b);
	if (!is_signed && (check_const(n->a, &v) && v >= 0) && has_sign(b))
		is_signed = true;
	if (!is_signed && (check_const(n->b, &v) && v >= 0) && has_sign(a))
		is_signed = true;
	check_fold(n, is_signed);
	n->v = n->folded ? n->v : is_signed;
	if (compare || order || logic)
		return c->i64;
	if (a->kind == LT_PTR || b->kind == LT_PTR)
		return pointer_sum(c, n, a, b);
	/* A literal takes the sign of the other side. */
	if (n->op == T_SHL || n->op == T_SHR)
		return has_sign(a) ? c->i64 : c->u64;
	if (n->b->kind == N_INT && !n->b->is_unsigned && !has_sign(a) && n->op != '-')
		return c->u64;
	if (n->a->kind == N_INT && !n->a->is_unsigned && !has_sign(b) && n->op != '-')
		return c->u64;
	return has_sign(a) || has_sign(b) ? c->i64 : c->u64;
}

static const struct ltype *check_tern(struct checker *c, struct node *n)
{
	const struct ltype *t = check_expr(c, n->a), *a, *b, *m;
	bool void_ok = c->void_ok;

	if (t->kind != LT_NONE && !lt_is_num(t))
		check_fail(c, n->a, "a condition is a number, not %s", check_text(c, t));
	a = check_expr(c, n->b);
	c->void_ok = void_ok;
	b = check_expr(c, n->c);
	if (a->kind == LT_VOID && b->kind == LT_VOID)
		return a;
	m = check_merge(c, a, b);
	if (!m || a->kind == LT_VOID || b->kind == LT_VOID)
		return check_fail(c, n, "both sides of ':' must be of one type, not %s and %s",
				  check_text(c, a), check_text(c, b));
	if (m->kind == LT_STRING)
		return lt_string(c->t, m->size);
	return m->kind == LT_INT ? check_stored(c, m) : m;
}

static const struct ltype *check_cast(struct checker *c, struct node *n)
{
	const struct ltype *to = check_ctype(c, n->ctype), *from = check_expr(c, n->a);

	if (to->kind == LT_NONE || from->kind == LT_NONE)
		return to;
	if (to->kind == LT_PTR) {
		if (from->kind == LT_ARRAY || from->kind == LT_STRING || from->kind == LT_RECORD)
			return lt_ptr(c->t, to->elem, from->space);
		if (!lt_is_num(from))
			return check_fail(c, n, "%s cannot become a pointer", check_text(c, from));
		return lt_ptr(c->t, to->elem,
			      from->kind == LT_PTR
				      ? (from->space == LS_TRUSTED ? LS_KERNEL : from->space)
				      : check_space(c));
	}
	if (to->kind == LT_INT) {
		if (!lt_is_num(from) && from->kind != LT_ARRAY && from->kind != LT_KSYM &&
		    from->kind != LT_USYM)
			return check_fail(c, n, "%s cannot become a number", check_text(c, from));
		return to;
	}
	if (to->kind == LT_ARRAY && from->kind == LT_INT) {
		if (!to->n) {
			uint32_t count =
				to->elem->size ? (from->size + to->elem->size - 1) / to->elem->size
					       : 0;

			return lt_array(c->t, to->elem, count ? count : 1);
		}
		if (to->size > 8)
			return check_fail(c, n, "a number has only 8 bytes");
		return to;
	}
	if (to->kind == LT_RECORD)
		check_fail(c, n, "cast to a pointer: (%s *)", n->ctype->name);
	else
		check_fail(c, n, "a cast to %s is not possible", check_text(c, to));
	return c->none;
}

static const struct ltype *check_sizeof(struct checker *c, struct node *n)
{
	const struct ltype *t = n->ctype ? check_ctype(c, n->ctype) : check_expr(c, n->a);

	check_fill(c, t);
	if (t->kind == LT_NONE)
		return c->u64;
	n->folded = true;
	if (n->kind == N_SIZEOF) {
		n->v = t->kind == LT_RECORD ? t->rec->size : t->size;
	} else {
		const char *s = n->s;
		uint32_t sum = 0;

		while (t && *s) {
			size_t k = strcspn(s, ".");
			AUTO_FREE char *part = mem_strndup(s, k);
			const struct lfield *f;
			uint32_t off = 0;

			if (t->kind == LT_PTR)
				t = t->elem;
			check_fill(c, t);
			f = t->kind == LT_RECORD ? lt_field(t->rec, part, &off) : NULL;
			if (!f)
				return check_fail(c, n, "there is no field '%s' in %s", part,
						  check_text(c, t));
			sum += off;
			t = f->type;
			s += k + (s[k] == '.');
		}
		n->v = sum;
	}
	return c->u64;
}

static const struct ltype *check_do(struct checker *c, struct node *n)
{
	bool none = c->void_ok;
	const struct ltype *t;

	c->void_ok = false;
	for (size_t i = 0; i < n->n; i++)
		check_stmt(c, n->list[i]);
	c->void_ok = none;
	t = n->a ? check_expr(c, n->a) : c->nothing;
	if (!n->a && !none)
		check_fail(c, n, "this has no value");
	return t->kind == LT_STRING ? check_stored(c, t) : t;
}

void check_param_text(const struct checker *c, struct node *n)
{
	n->kind = N_STR;
	n->s = n->v <= c->src->n_args ? c->src->args[n->v - 1] : "";
	n->slen = strlen(n->s);
}

/* As numbers are written in a program: 10, 0x1f, 017; here with a sign. */
static bool param_number(const char *s, struct node *n)
{
	bool negative = *s == '-', octal;
	uint64_t v;
	char *end;

	s += negative;
	octal = s[0] == '0' && isdigit((unsigned char)s[1]);
	errno = 0;
	if (octal)
		v = strtoull(s, &end, 8);
	if (octal ? errno || *end : !str_u64(s, &v))
		return false;
	if (negative && v > 1ull << 63)
		return false;
	n->v = (int64_t)(negative ? 0 - v : v);
	n->is_unsigned = !negative && v > INT64_MAX;
	return true;
}

/* $1 and $# are constants: the node becomes a number or a text. */
static const struct ltype *check_param(struct checker *c, struct node *n)
{
	if (!n->v)
		n->v = c->src->n_args;
	else if (n->v > c->src->n_args)
		n->v = 0;
	else if (!param_number(c->src->args[n->v - 1], n))
		check_param_text(c, n);
	if (n->kind == N_PARAM)
		n->kind = N_INT;
	return check_expr(c, n);
}

static const struct ltype *check_by_kind(struct checker *c, struct node *n)
{
	switch (n->kind) {
	case N_INT: n->folded = true; return n->is_unsigned ? c->u64 : c->i64;
	case N_STR: return lt_string(c->t, (uint32_t)n->slen + 1);
	case N_PARAM: return check_param(c, n);
	case N_VAR: return check_var(c, n);
	case N_MAP: return check_map_read(c, n);
	case N_IDENT: return check_ident(c, n);
	case N_CALL: return check_call(c, n);
	case N_BIN: return check_binary(c, n);
	case N_UN: return check_unary(c, n);
	case N_TERN: return check_tern(c, n);
	case N_FIELD: return check_field(c, n);
	case N_INDEX: return check_index(c, n);
	case N_CAST: return check_cast(c, n);
	case N_SIZEOF:
	case N_OFFSETOF: return check_sizeof(c, n);
	case N_TUPLE: {
		const struct ltype *item[32];

		if (n->n > ARRAY_SIZE(item))
			return check_fail(c, n, "a tuple has at most %zu items", ARRAY_SIZE(item));
		for (size_t i = 0; i < n->n; i++) {
			item[i] = check_stored(c, check_expr(c, n->list[i]));
			if (item[i]->kind == LT_NONE)
				return item[i];
			if (item[i]->kind == LT_VOID || lt_is_agg(item[i]))
				return check_fail(c, n->list[i], "this cannot be part of a tuple");
		}
		return lt_tuple(c->t, item, (uint32_t)n->n);
	}
	case N_INCDEC: {
		const struct ltype *t = check_expr(c, n->a);

		if (n->a->kind != N_VAR && n->a->kind != N_MAP)
			return check_fail(c, n,
					  "only variables and maps can be counted up or down");
		if (t->kind == LT_PTR)
			check_fill(c, t->elem);
		if (n->a->kind == N_MAP && c->p->maps.data[n->a->map].value->kind == LT_NONE) {
			c->p->maps.data[n->a->map].value = c->i64;
			c->changed = true;
			return c->i64;
		}
		if (t->kind != LT_NONE && !lt_is_num(t))
			return check_fail(c, n, "%s cannot be counted up or down",
					  check_text(c, t));
		if (n->a->kind == N_MAP && lt_is_agg(c->p->maps.data[n->a->map].value))
			return check_fail(c, n, "%s is an aggregation: assign count() or sum()",
					  n->a->s);
		return t;
	}
	case N_DO: return check_do(c, n);
	default: return check_fail(c, n, "this is no expression");
	}
}

const struct ltype *check_expr(struct checker *c, struct node *n)
{
	bool agg = c->agg_ok, none = c->void_ok;

	/* An aggregation may stand in the outermost expression only. */
	if (n->kind != N_IDENT)
		c->args_field = false;
	if (n->kind != N_CALL)
		c->agg_ok = false;
	if (n->kind != N_CALL && n->kind != N_TERN && n->kind != N_DO)
		c->void_ok = false;
	n->type = check_by_kind(c, n);
	c->agg_ok = agg;
	c->void_ok = none;
	return n->type;
}
