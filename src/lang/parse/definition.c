/* SPDX-License-Identifier: MIT */
/* C definitions: struct, union, enum, typedef, with C's attributes that change their layout. */
#include <string.h>

#include "lang/parse/parse.h"

void parse_skip_to(struct parser *p, int kind)
{
	unsigned open = 0;

	while (p->tok.kind != T_END && !(p->tok.kind == kind && open == 0)) {
		if (p->tok.kind == '{')
			open++;
		if (p->tok.kind == '}' && open && --open == 0 && kind == '}')
			break;
		parse_advance(p);
	}
	if (p->tok.kind == kind)
		parse_advance(p);
}

static int64_t const_value(const struct parser *p, const struct node *n, bool *ok)
{
	struct parse_int type;
	int64_t a, b;

	switch (n->kind) {
	case N_INT: return n->v;
	case N_IDENT:
		for (size_t i = p->ast->consts.n; i-- > 0;)
			if (strcmp(p->ast->consts.data[i].name, n->s) == 0)
				return p->ast->consts.data[i].value;
		break;
	case N_UN:
		a = const_value(p, n->a, ok);
		return n->op == '-'   ? (int64_t) - (uint64_t)a
		       : n->op == '~' ? ~a
		       : n->op == '!' ? !a
				      : (*ok = false);
	case N_BIN:
		a = const_value(p, n->a, ok);
		b = const_value(p, n->b, ok);
		if (parse_fold(n->op, a, b, true, &a))
			return a;
		break;
	case N_SIZEOF:
		if (n->ctype && n->ctype->stars)
			return 8;
		if (n->ctype && parse_int_type(n->ctype->name, &type))
			return type.size;
		break;
	default: break;
	}
	*ok = false;
	return 0;
}

static void parse_enum(struct parser *p)
{
	int64_t next = 0;

	while (p->tok.kind == T_IDENT && !p->failed) {
		const char *name = p->tok.s;

		parse_advance(p);
		if (parse_accept(p, '=')) {
			struct node *n = parse_expr(p);
			bool ok = true;

			next = const_value(p, n, &ok);
			if (!ok)
				lang_error(p->d, n->pos, n->len, "this is no constant");
		}
		vec_push(&p->ast->consts, (struct cconst){ name, next });
		next = (int64_t)((uint64_t)next + 1);
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, '}', "at the end of the enum");
}

static struct crecord_def *parse_record(struct parser *p, bool is_union, const char *name);

struct attributes {
	bool packed;
	uint32_t aligned;
};

static uint32_t parse_aligned(struct parser *p)
{
	struct node *n = parse_primary(p);
	bool ok = true;
	int64_t v = const_value(p, n, &ok);

	if (ok && v > 0 && v <= 4096 && !(v & (v - 1)))
		return (uint32_t)v;
	lang_error(p->d, n->pos, n->len, "this is no alignment");
	return 1;
}

/* __attribute__((packed, aligned(8))); others do not change how things lie in memory. */
static void parse_attributes(struct parser *p, struct attributes *a)
{
	while (p->tok.kind == T_IDENT) {
		unsigned open = 0;

		if (parse_is(p, "__packed")) {
			a->packed = true;
			parse_advance(p);
			continue;
		}
		if (!parse_is(p, "__attribute__") && !parse_is(p, "__attribute"))
			return;
		parse_advance(p);
		do {
			if (parse_is(p, "packed") || parse_is(p, "__packed__"))
				a->packed = true;
			if (parse_is(p, "aligned") || parse_is(p, "__aligned__")) {
				parse_advance(p);
				a->aligned = 16; /* the most there is, when it does not say */
				if (p->tok.kind == '(')
					a->aligned = parse_aligned(p);
				continue;
			}
			open += p->tok.kind == '(';
			open -= p->tok.kind == ')';
			parse_advance(p);
		} while (open && p->tok.kind != T_END);
	}
}

/* [2][3] behind a name */
static void parse_dimensions(struct parser *p, struct ctype *t)
{
	while (parse_accept(p, '[')) {
		struct node *n;
		bool ok = true;
		int64_t v;

		if (parse_accept(p, ']')) {
			t->is_array = true;
			continue;
		}
		n = parse_expr(p);
		v = const_value(p, n, &ok);
		if (!ok || v < 0 || v > 1 << 20)
			lang_error(p->d, n->pos, n->len, "this is no size of an array");
		else
			t->array = t->is_array ? t->array * (uint32_t)v : (uint32_t)v;
		if (t->array > 1u << 20)
			t->array = 1;
		t->is_array = true;
		parse_expect(p, ']', NULL);
	}
}

static void parse_members(struct parser *p, struct crecord_def *r)
{
	struct cfield_def f = { 0 };
	struct attributes attr = { 0 };
	struct ctype *t;

	parse_accept_word(p, "__extension__");
	if (parse_is(p, "struct") || parse_is(p, "union")) {
		/* an inner definition: struct [name] { ... } [field]; */
		uint32_t save = p->lex.at;
		struct token tok = p->tok, prev = p->prev;
		bool is_union = parse_is(p, "union");
		const char *name;

		parse_advance(p);
		name = parse_name(p);
		if (p->tok.kind == '{') {
			const char *full = *name ? arena_printf(p->arena, "%s %s",
								is_union ? "union" : "struct", name)
						 : arena_printf(p->arena, "(anonymous %u)",
								p->ast->n_anonymous++);

			if (!parse_deeper(p, "records are"))
				return;
			f.inner = parse_record(p, is_union, full);
			p->depth--;
			f.type.name = full;
			do {
				struct cfield_def one = f;

				while (parse_accept(p, '*'))
					one.type.stars++;
				one.inner = one.type.stars ? NULL : f.inner;
				one.name = parse_name(p);
				if (p->tok.kind == '[') {
					parse_dimensions(p, &one.type);
					one.inner = NULL;
				}
				parse_attributes(p, &attr);
				vec_push(&r->fields, one);
			} while (parse_accept(p, ','));
			parse_expect(p, ';', "behind the field");
			return;
		}
		p->lex.at = save;
		p->tok = tok;
		p->prev = prev;
	}
	t = parse_type(p);
	if (!t) {
		parse_fail(p, "the type of a field expected");
		return;
	}
	parse_attributes(p, &attr);
	do {
		f = (struct cfield_def){ .type = *t };
		while (parse_accept(p, '*'))
			f.type.stars++;
		if (parse_accept(p, '(')) { /* a pointer to a function */
			parse_expect(p, '*', "in a pointer to a function");
			f.type.name = "void";
			f.type.stars = 1;
			f.name = p->tok.kind == T_IDENT ? p->tok.s : "";
			parse_skip_to(p, ')');
			if (parse_accept(p, '('))
				parse_skip_to(p, ')');
			vec_push(&r->fields, f);
			continue;
		}
		f.name = parse_name(p);
		if (!*f.name && p->tok.kind != ':') {
			parse_fail(p, "the name of a field expected");
			return;
		}
		parse_dimensions(p, &f.type);
		if (parse_accept(p, ':') && p->tok.kind == T_INT) {
			f.is_bits = true;
			f.bits = p->tok.v > 64 ? 64 : (uint32_t)p->tok.v;
			parse_advance(p);
		}
		parse_attributes(p, &attr);
		f.aligned = attr.aligned;
		vec_push(&r->fields, f);
	} while (parse_accept(p, ','));
	parse_expect(p, ';', "behind the field");
}

static struct crecord_def *parse_record(struct parser *p, bool is_union, const char *name)
{
	struct crecord_def *r = arena_alloc(p->arena, sizeof(*r));
	struct attributes attr = { 0 };

	r->name = name;
	r->is_union = is_union;
	r->pos = p->tok.pos;
	parse_expect(p, '{', NULL);
	while (p->tok.kind != '}' && p->tok.kind != T_END && !p->failed)
		parse_members(p, r);
	parse_expect(p, '}', "at the end of the record");
	parse_attributes(p, &attr);
	r->packed |= attr.packed;
	r->aligned = attr.aligned > r->aligned ? attr.aligned : r->aligned;
	r->from_header = p->lex.pinned;
	vec_push(&p->ast->records, r);
	return r;
}

const char *parse_tag(struct parser *p)
{
	const char *kind = p->tok.s, *name, *full;
	struct attributes attr = { 0 };
	uint32_t pos = p->tok.pos;

	parse_advance(p);
	parse_attributes(p, &attr);
	name = parse_name(p);
	full = *name ? arena_printf(p->arena, "%s %s", kind, name)
		     : arena_printf(p->arena, "%s (anonymous %u)", kind, p->ast->n_anonymous++);
	if (p->tok.kind != '{')
		return *name ? full : NULL;
	if (strcmp(kind, "enum") == 0) {
		struct cenum e = { .name = full, .first = p->ast->consts.n };

		parse_advance(p);
		parse_enum(p);
		e.n = p->ast->consts.n - e.first;
		vec_push(&p->ast->enums, e);
	} else {
		struct crecord_def *r = parse_record(p, strcmp(kind, "union") == 0, full);

		r->pos = pos;
		r->packed |= attr.packed;
	}
	return full;
}

void parse_definition(struct parser *p)
{
	bool is_enum = parse_is(p, "enum");
	const char *name = parse_tag(p);

	if (!name)
		parse_fail(p, "a name or { expected%s", is_enum ? " behind enum" : "");
	if (p->failed)
		parse_skip_to(p, ';');
	else
		parse_accept(p, ';');
}

void parse_typedef(struct parser *p)
{
	struct ctype base = { .pos = p->tok.pos, .len = p->tok.len }, *t;

	parse_advance(p);
	parse_accept_word(p, "__extension__");
	if (parse_is(p, "struct") || parse_is(p, "union") || parse_is(p, "enum")) {
		base.name = parse_tag(p);
	} else if ((t = parse_type(p))) {
		base = *t;
	}
	while (base.name && !p->failed) {
		struct ctypedef d = { .type = base };
		struct attributes attr = { 0 };

		while (parse_accept(p, '*') || parse_accept_word(p, "const"))
			d.type.stars += p->prev.kind == '*';
		if (parse_accept(p, '(')) { /* a pointer to a function */
			parse_accept(p, '*');
			d.type = (struct ctype){ .name = "void", .stars = 1, .pos = base.pos };
		}
		d.name = p->tok.s;
		if (!parse_expect(p, T_IDENT, "behind the type"))
			break;
		if (p->tok.kind == '[')
			parse_dimensions(p, &d.type);
		parse_attributes(p, &attr);
		if (p->tok.kind != '(') /* the type of a function is of no use */
			vec_push(&p->ast->typedefs, d);
		if (!parse_accept(p, ','))
			break;
	}
	parse_skip_to(p, ';');
}
