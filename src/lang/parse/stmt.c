/* SPDX-License-Identifier: MIT */
/* Statements: blocks, loops, assignments, declarations. */
#include "lang/parse/parse.h"

static struct node *parse_stmt(struct parser *p);

struct node *parse_block(struct parser *p)
{
	struct node *n = parse_node(p, N_BLOCK, p->tok.pos);
	VEC(struct node *) list = { 0 };

	if (!parse_expect(p, '{', NULL))
		return n;
	if (!parse_deeper(p, "blocks are"))
		return n;
	while (p->tok.kind != '}' && p->tok.kind != T_END) {
		unsigned errors = p->d->errors;
		struct node *s;

		if (parse_accept(p, ';'))
			continue;
		p->failed = false;
		s = parse_stmt(p);
		if (s && p->d->errors == errors)
			vec_push(&list, s);
		n->v = s && s->kind == N_EXPR && p->tok.kind == '}' && !p->failed;
		if (p->failed) { /* go on behind this statement */
			unsigned open = 0;

			while (p->tok.kind != T_END && !(p->tok.kind == ';' && !open) &&
			       !(p->tok.kind == '}' && !open)) {
				open += p->tok.kind == '{';
				open -= p->tok.kind == '}';
				parse_advance(p);
			}
		}
	}
	p->depth--;
	p->failed = false;
	parse_expect(p, '}', "at the end of the block");
	n->list = arena_dup(p->arena, list.data, list.n * sizeof(*list.data));
	n->n = list.n;
	vec_free(&list);
	parse_end_at(p, n);
	return n;
}

struct node *parse_rounds(struct parser *p)
{
	struct node *n;

	p->loops++;
	n = parse_block(p);
	p->loops--;
	return n;
}

static struct node *parse_if(struct parser *p, uint32_t pos)
{
	struct node *n = parse_node(p, N_IF, pos);

	parse_advance(p);
	n->a = parse_expr(p);
	n->b = p->tok.kind == '{' ? parse_block(p) : parse_stmt(p);
	while (p->tok.kind == ';' && n->b && n->b->kind != N_BLOCK)
		parse_advance(p);
	if (parse_accept_word(p, "else"))
		n->c = parse_is(p, "if")    ? parse_if(p, p->tok.pos)
		       : p->tok.kind == '{' ? parse_block(p)
					    : parse_stmt(p);
	return n;
}

static struct node *parse_for(struct parser *p, uint32_t pos)
{
	struct node *n = parse_node(p, N_FOR_MAP, pos);
	bool paren;

	parse_advance(p);
	paren = parse_accept(p, '(');
	if (p->tok.kind != T_VAR) {
		parse_fail(p, "for wants a variable: for ($kv : @map) or for ($i : 0..10)");
		return n;
	}
	n->a = parse_primary(p);
	parse_expect(p, ':', "behind the loop's variable");
	n->b = parse_binary(p, 1);
	if (parse_accept(p, T_RANGE)) {
		n->kind = N_FOR_RANGE;
		n->c = parse_binary(p, 1);
	} else if (n->b->kind != N_MAP && !p->failed) {
		lang_error(p->d, n->b->pos, n->b->len, "for goes over a map or a range");
		lang_hint(p->d, "for ($kv : @map) { ... } or for ($i : 0..10) { ... }");
	}
	if (paren)
		parse_expect(p, ')', NULL);
	parse_add(p, n, parse_rounds(p));
	return n;
}

static struct node *parse_simple(struct parser *p)
{
	static const struct {
		int tok, op;
	} compound[] = { { T_ADD_EQ, '+' },  { T_SUB_EQ, '-' }, { T_MUL_EQ, '*' },
			 { T_DIV_EQ, '/' },  { T_MOD_EQ, '%' }, { T_AND_EQ, '&' },
			 { T_OR_EQ, '|' },   { T_XOR_EQ, '^' }, { T_SHL_EQ, T_SHL },
			 { T_SHR_EQ, T_SHR } };
	struct node *e = parse_expr(p), *n;
	int op = p->tok.kind == '=' ? '=' : 0;

	for (size_t i = 0; i < ARRAY_SIZE(compound); i++)
		if (p->tok.kind == compound[i].tok)
			op = compound[i].op;
	if (op) {
		if (e->kind != N_VAR && e->kind != N_MAP && !p->failed) {
			parse_fail(p, "only variables and maps can be assigned to");
			return NULL;
		}
		parse_advance(p);
		n = parse_node(p, N_ASSIGN, e->pos);
		n->op = op;
		n->a = e;
		n->b = parse_expr(p);
		parse_end_at(p, n);
		return n;
	}
	n = parse_node(p, N_EXPR, e->pos);
	n->a = e;
	parse_end_at(p, n);
	return n;
}

static struct node *parse_let(struct parser *p, uint32_t pos)
{
	struct node *n = parse_node(p, N_LET, pos);

	parse_advance(p);
	if (p->tok.kind != T_VAR) {
		parse_fail(p, "let wants a variable");
		return n;
	}
	n->a = parse_primary(p);
	if (parse_accept(p, ':')) {
		n->ctype = parse_type(p);
		if (n->ctype)
			parse_array(p, n->ctype);
	}
	if (parse_accept(p, '='))
		n->b = parse_expr(p);
	parse_end_at(p, n);
	return n;
}

static struct node *parse_jump(struct parser *p, uint32_t pos)
{
	struct node *n = parse_node(p, N_RETURN, pos);

	n->kind = parse_is(p, "break") ? N_BREAK : parse_is(p, "continue") ? N_CONTINUE : N_RETURN;
	parse_advance(p);
	parse_end_at(p, n);
	if (n->kind != N_RETURN && !p->loops) {
		lang_error(p->d, n->pos, n->len, "%s outside of a loop",
			   n->kind == N_BREAK ? "break" : "continue");
	} else if (n->kind == N_RETURN && p->tok.kind != ';' && p->tok.kind != '}') {
		n->a = parse_expr(p);
	}
	return n;
}

static struct node *parse_stmt(struct parser *p)
{
	uint32_t pos = p->tok.pos;
	struct node *n;

	if (p->tok.kind == '{')
		return parse_block(p);
	if (parse_is(p, "if")) {
		return parse_if(p, pos);
	} else if (parse_is(p, "while") || parse_is(p, "unroll")) {
		n = parse_node(p, parse_is(p, "while") ? N_WHILE : N_UNROLL, pos);
		parse_advance(p);
		n->a = parse_expr(p);
		n->b = parse_rounds(p);
		return n;
	} else if (parse_is(p, "for")) {
		return parse_for(p, pos);
	}
	if (parse_is(p, "break") || parse_is(p, "continue") || parse_is(p, "return"))
		n = parse_jump(p, pos);
	else if (parse_is(p, "let"))
		n = parse_let(p, pos);
	else
		n = parse_simple(p);
	if (p->tok.kind != '}' && p->tok.kind != ';' && !p->failed) {
		char b[16];

		lang_error(p->d, p->prev.pos + p->prev.len, 1, "';' expected before %s",
			   lex_name(p->tok.kind, b, sizeof(b)));
		p->failed = true;
	}
	return n;
}
