/* SPDX-License-Identifier: MIT */
/*
 * Expressions and statements: a Pratt parser with C's precedences.
 *
 * After a mistake the parser goes on behind the next ';' or '}', so that one run
 * shows several; the statement is left out, and the checker takes what remains. Nesting is bounded:
 * programs are untrusted here.
 */
#include "lang/parse/parse.h"

#include <ctype.h>
#include <string.h>

void parse_advance(struct parser *p)
{
	unsigned errors = p->d->errors;

	p->prev = p->tok;
	p->tok = lex_next(&p->lex);
	/* Where a text ends that has no end is a guess: what stands behind it tells nothing. */
	if (p->tok.kind == T_STR && p->d->errors > errors)
		p->failed = true;
}

bool parse_accept(struct parser *p, int kind)
{
	if (p->tok.kind != kind)
		return false;
	parse_advance(p);
	return true;
}

bool parse_is(const struct parser *p, const char *word)
{
	return p->tok.kind == T_IDENT && strcmp(p->tok.s, word) == 0;
}

bool parse_accept_word(struct parser *p, const char *word)
{
	if (!parse_is(p, word))
		return false;
	parse_advance(p);
	return true;
}

void parse_fail(struct parser *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* What a text without an end has swallowed is not missing. */
	if (!p->failed && !(p->tok.kind == T_END && p->lex.swallowed))
		lang_error(p->d, p->tok.pos, p->tok.len, "%s", text);
	p->failed = true;
}

bool parse_expect(struct parser *p, int kind, const char *what)
{
	char a[16], b[16];

	if (parse_accept(p, kind))
		return true;
	parse_fail(p, "%s expected%s%s, not %s", lex_name(kind, a, sizeof(a)), what ? " " : "",
		   what ? what : "", lex_name(p->tok.kind, b, sizeof(b)));
	return false;
}

bool parse_deeper(struct parser *p, const char *what)
{
	if (++p->depth <= PARSE_DEPTH)
		return true;
	parse_fail(p, "%s nested too deeply", what);
	p->depth--;
	return false;
}

const char *parse_name(struct parser *p)
{
	const char *name = p->tok.kind == T_IDENT ? p->tok.s : "";

	if (*name)
		parse_advance(p);
	return name;
}

struct node *parse_node(struct parser *p, enum node_kind kind, uint32_t pos)
{
	struct node *n = arena_alloc(p->arena, sizeof(*n));

	n->kind = kind;
	n->pos = pos;
	n->len = p->prev.pos + p->prev.len > pos ? p->prev.pos + p->prev.len - pos : 1;
	n->map = -1;
	n->action = -1;
	return n;
}

void parse_end_at(struct parser *p, struct node *n)
{
	n->len = p->prev.pos + p->prev.len > n->pos ? p->prev.pos + p->prev.len - n->pos : 1;
}

const struct node *node_find(const struct node *n, node_test_fn *test, const void *ctx)
{
	const struct node *found = NULL;

	if (!n || test(n, ctx))
		return n;
	for (size_t i = 0; i < node_parts(n) && !found; i++)
		found = node_find(node_part(n, i), test, ctx);
	return found;
}

static bool node_is_map(const struct node *n, const void *map)
{
	return n->kind == N_MAP && n->map == *(const int *)map;
}

const struct node *node_find_map(const struct node *n, int map)
{
	return node_find(n, node_is_map, &map);
}

/* With __ in front or, where a digit is at the end, with _t behind it is the same. */
static const struct parse_int ints[] = {
	{ "int8", 1, true },	   { "int16", 2, true },    { "int32", 4, true },
	{ "int64", 8, true },	   { "uint8", 1, false },   { "uint16", 2, false },
	{ "uint32", 4, false },	   { "uint64", 8, false },  { "s8", 1, true },
	{ "s16", 2, true },	   { "s32", 4, true },	    { "s64", 8, true },
	{ "u8", 1, false },	   { "u16", 2, false },	    { "u32", 4, false },
	{ "u64", 8, false },	   { "char", 1, true },	    { "short", 2, true },
	{ "int", 4, true },	   { "long", 8, true },	    { "unsigned", 4, false },
	{ "signed", 4, true },	   { "size_t", 8, false },  { "ssize_t", 8, true },
	{ "uintptr_t", 8, false }, { "intptr_t", 8, true }, { "pid_t", 4, true },
	{ "uid_t", 4, false },	   { "gid_t", 4, false },   { "dev_t", 4, false },
	{ "sector_t", 8, false },  { "loff_t", 8, true },   { "umode_t", 2, false },
	{ "gfp_t", 4, false },	   { "be16", 2, false },    { "be32", 4, false },
};

bool parse_int_type(const char *name, struct parse_int *ret)
{
	char plain[64];
	size_t n;

	if (strchr(name, ' ')) { /* unsigned long long int */
		*ret = (struct parse_int){ .is_signed = !strstr(name, "unsigned") };
		ret->size = strstr(name, "char")    ? 1
			    : strstr(name, "short") ? 2
			    : strstr(name, "long")  ? 8
			    : strstr(name, "int")   ? 4
						    : 0;
		return ret->size && !str_starts(name, "struct ") && !str_starts(name, "union ") &&
		       !str_starts(name, "enum ");
	}
	snprintf(plain, sizeof(plain), "%s", str_starts(name, "__") ? name + 2 : name);
	n = strlen(plain);
	if (n > 2 && strcmp(plain + n - 2, "_t") == 0 && isdigit((unsigned char)plain[n - 3]))
		plain[n - 2] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(ints); i++)
		if (strcmp(ints[i].name, plain) == 0) {
			*ret = ints[i];
			return true;
		}
	return false;
}

/* Is it C's own, or nearly so? */
static bool parse_is_plain_type(const char *name)
{
	return parse_int_type(name, &(struct parse_int){ 0 }) || strcmp(name, "bool") == 0 ||
	       strcmp(name, "void") == 0 || strcmp(name, "string") == 0;
}

bool parse_fold(int op, int64_t a, int64_t b, bool is_signed, int64_t *ret)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case '+': *ret = (int64_t)(x + y); return true;
	case '-': *ret = (int64_t)(x - y); return true;
	case '*': *ret = (int64_t)(x * y); return true;
	case '/':
	case '%':
		if (!b)
			return false;
		if (is_signed && b == -1) /* also of the least number */
			*ret = op == '/' ? (int64_t)(0 - x) : 0;
		else if (is_signed)
			*ret = op == '/' ? a / b : a % b;
		else
			*ret = (int64_t)(op == '/' ? x / y : x % y);
		return true;
	case '&': *ret = a & b; return true;
	case '|': *ret = a | b; return true;
	case '^': *ret = a ^ b; return true;
	case T_SHL: *ret = (int64_t)(x << (y & 63)); return true;
	case T_SHR: *ret = is_signed ? a >> (y & 63) : (int64_t)(x >> (y & 63)); return true;
	case T_EQ: *ret = a == b; return true;
	case T_NE: *ret = a != b; return true;
	case '<': *ret = is_signed ? a < b : x < y; return true;
	case '>': *ret = is_signed ? a > b : x > y; return true;
	case T_LE: *ret = is_signed ? a <= b : x <= y; return true;
	case T_GE: *ret = is_signed ? a >= b : x >= y; return true;
	case T_AND: *ret = a && b; return true;
	case T_OR: *ret = a || b; return true;
	default: return false;
	}
}

struct ctype *parse_type(struct parser *p)
{
	struct ctype *t;
	AUTO_STRBUF name = { 0 };

	if (p->tok.kind != T_IDENT)
		return NULL;
	t = arena_alloc(p->arena, sizeof(*t));
	t->pos = p->tok.pos;
	while (parse_is(p, "const") || parse_is(p, "volatile") || parse_is(p, "__volatile__"))
		parse_advance(p);
	if (parse_is(p, "struct") || parse_is(p, "union") || parse_is(p, "enum")) {
		strbuf_printf(&name, "%s ", p->tok.s);
		parse_advance(p);
		if (p->tok.kind != T_IDENT) {
			parse_fail(p, "the name of a %sexpected", strbuf_str(&name));
			return t;
		}
		strbuf_puts(&name, p->tok.s);
		parse_advance(p);
	} else if (p->tok.kind == T_IDENT) {
		strbuf_puts(&name, p->tok.s);
		parse_advance(p);
		/* unsigned long long int */
		while (p->tok.kind == T_IDENT &&
		       (parse_is(p, "long") || parse_is(p, "int") || parse_is(p, "char") ||
			parse_is(p, "short") || parse_is(p, "unsigned") || parse_is(p, "signed") ||
			parse_is(p, "double"))) {
			strbuf_printf(&name, " %s", p->tok.s);
			parse_advance(p);
		}
	}
	while (parse_is(p, "const") || parse_is(p, "volatile"))
		parse_advance(p);
	while (p->tok.kind == '*') {
		t->stars++;
		parse_advance(p);
		while (parse_is(p, "const") || parse_is(p, "restrict"))
			parse_advance(p);
	}
	t->name = arena_strdup(p->arena, strbuf_str(&name));
	t->len = p->prev.pos + p->prev.len - t->pos;
	return t;
}

void parse_array(struct parser *p, struct ctype *t)
{
	if (!parse_accept(p, '['))
		return;
	t->is_array = true;
	if (p->tok.kind == T_INT) {
		if (p->tok.v > 1u << 20)
			parse_fail(p, "an array of %llu elements is too large",
				   (unsigned long long)p->tok.v);
		t->array = (uint32_t)p->tok.v;
		parse_advance(p);
	}
	parse_expect(p, ']', "behind the size of an array");
	t->len = p->prev.pos + p->prev.len - t->pos;
}

/* Is what follows '(' a type and then ')'? Looks without consuming. */
static bool looks_like_cast(struct parser *p)
{
	uint32_t save = p->lex.at;
	size_t pending = p->lex.pending.n;
	struct token t = p->tok;
	bool known, stars = false;

	if (pending || t.kind != T_IDENT)
		return t.kind == T_IDENT && parse_is_plain_type(t.s);
	if (strcmp(t.s, "struct") == 0 || strcmp(t.s, "union") == 0 || strcmp(t.s, "enum") == 0)
		return true;
	known = parse_is_plain_type(t.s);
	if (known)
		return true;
	t = lex_next(&p->lex);
	while (t.kind == '*') {
		stars = true;
		t = lex_next(&p->lex);
	}
	if (t.kind == ')') {
		t = lex_next(&p->lex);
		known = t.kind == T_VAR || t.kind == T_MAP || t.kind == T_INT ||
			t.kind == T_IDENT || t.kind == T_PARAM || (stars && t.kind == '(');
	}
	p->lex.pending.n = pending;
	p->lex.at = save;
	return known;
}

void parse_add(struct parser *p, struct node *n, struct node *item)
{
	struct node **list = arena_alloc(p->arena, (n->n + 1) * sizeof(*list));

	if (n->n)
		memcpy(list, n->list, n->n * sizeof(*list));
	list[n->n++] = item;
	n->list = list;
}

static void parse_list(struct parser *p, struct node *n, int close)
{
	while (p->tok.kind != close && p->tok.kind != T_END && !p->failed) {
		parse_add(p, n, parse_expr(p));
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, close, "at the end of the list");
}

static struct node *parse_unary(struct parser *p);

static bool is_typedef(const struct parser *p, const char *name)
{
	vec_each (&p->ast->typedefs, it)
		if (strcmp(it->name, name) == 0)
			return true;
	return false;
}

static struct node *parse_sizeof(struct parser *p, uint32_t pos, bool offset)
{
	struct node *n = parse_node(p, offset ? N_OFFSETOF : N_SIZEOF, pos);

	parse_advance(p);
	if (!parse_expect(p, '(', "behind it"))
		return n;
	if (p->tok.kind == T_IDENT &&
	    (parse_is(p, "struct") || parse_is(p, "union") || parse_is(p, "enum") ||
	     parse_is_plain_type(p->tok.s) || is_typedef(p, p->tok.s))) {
		n->ctype = parse_type(p);
		if (!offset)
			parse_array(p, n->ctype);
	} else {
		n->a = parse_expr(p);
	}
	if (offset && parse_expect(p, ',', "before the name of a field")) {
		AUTO_STRBUF b = { 0 };

		while (p->tok.kind == T_IDENT) {
			strbuf_puts(&b, p->tok.s);
			parse_advance(p);
			if (!parse_accept(p, '.'))
				break;
			strbuf_putc(&b, '.');
		}
		n->s = arena_strdup(p->arena, strbuf_str(&b));
	}
	parse_expect(p, ')', NULL);
	parse_end_at(p, n);
	return n;
}

static struct node *parse_word(struct parser *p)
{
	uint32_t pos = p->tok.pos;
	struct node *n;

	if (parse_is(p, "sizeof") || parse_is(p, "offsetof"))
		return parse_sizeof(p, pos, parse_is(p, "offsetof"));
	n = parse_node(p, N_IDENT, pos);
	n->s = p->tok.s;
	parse_advance(p);
	parse_end_at(p, n);
	if (p->tok.kind == '(') {
		parse_advance(p);
		n->kind = N_CALL;
		n->slen = n->len; /* the name's own length, for carets */
		parse_list(p, n, ')');
		parse_end_at(p, n);
	}
	return n;
}

static struct node *parse_paren(struct parser *p)
{
	uint32_t pos = p->tok.pos;
	struct node *n, *t;

	parse_advance(p);
	if (looks_like_cast(p)) {
		n = parse_node(p, N_CAST, pos);
		n->ctype = parse_type(p);
		if (!n->ctype)
			return n;
		parse_array(p, n->ctype);
		parse_expect(p, ')', "behind the type");
		n->a = parse_unary(p);
		parse_end_at(p, n);
		return n;
	}
	if (p->tok.kind == ')') {
		parse_advance(p);
		return parse_node(p, N_TUPLE, pos);
	}
	n = parse_expr(p);
	if (p->tok.kind == ',') {
		t = parse_node(p, N_TUPLE, pos);
		parse_add(p, t, n);
		while (parse_accept(p, ',') && p->tok.kind != ')')
			parse_add(p, t, parse_expr(p));
		n = t;
	}
	parse_expect(p, ')', "at the end of the expression");
	if (n->kind == N_TUPLE && n->pos == pos)
		parse_end_at(p, n);
	return n;
}

/* A block whose last expression is its value. */
static struct node *parse_do(struct parser *p)
{
	struct node *n = parse_block(p);

	n->kind = N_DO;
	if (n->v && n->n)
		n->a = n->list[--n->n]->a;
	else if (!p->failed)
		lang_error(p->d, n->pos, n->len, "this block ends without a value");
	n->v = 0;
	return n;
}

struct node *parse_primary(struct parser *p)
{
	uint32_t pos = p->tok.pos;
	struct node *n;
	char b[16];

	switch (p->tok.kind) {
	case T_INT:
		n = parse_node(p, N_INT, pos);
		n->v = (int64_t)p->tok.v;
		n->is_unsigned = p->tok.v > INT64_MAX;
		break;
	case T_STR:
		n = parse_node(p, N_STR, pos);
		n->s = p->tok.s;
		n->slen = p->tok.slen;
		break;
	case T_PARAM:
		n = parse_node(p, N_PARAM, pos);
		n->v = (int64_t)p->tok.v;
		break;
	case T_VAR:
		n = parse_node(p, N_VAR, pos);
		n->s = p->tok.s;
		break;
	case T_MAP:
		n = parse_node(p, N_MAP, pos);
		n->s = p->tok.s;
		parse_advance(p);
		if (parse_accept(p, '['))
			parse_list(p, n, ']');
		parse_end_at(p, n);
		return n;
	case T_IDENT: return parse_word(p);
	case '(': return parse_paren(p);
	case '{': return parse_do(p);
	default:
		parse_fail(p, "an expression expected, not %s",
			   lex_name(p->tok.kind, b, sizeof(b)));
		return parse_node(p, N_INT, pos);
	}
	parse_advance(p);
	parse_end_at(p, n);
	return n;
}

static struct node *parse_postfix(struct parser *p)
{
	struct node *n = parse_primary(p), *m;

	for (unsigned links = 0; !p->failed; links++) {
		int op = p->tok.kind;

		if (links > PARSE_DEPTH) {
			parse_fail(p, "this expression has too many parts");
			break;
		}
		if (op == '.' || op == T_ARROW) {
			parse_advance(p);
			m = parse_node(p, N_FIELD, n->pos);
			m->arrow = op == T_ARROW;
			m->a = n;
			if (p->tok.kind == T_IDENT) {
				m->s = p->tok.s;
			} else if (p->tok.kind == T_INT) {
				m->s = arena_printf(p->arena, "%llu", (unsigned long long)p->tok.v);
			} else {
				parse_fail(p, "the name of a field expected");
				break;
			}
		} else if (op == '[') {
			parse_advance(p);
			m = parse_node(p, N_INDEX, n->pos);
			m->a = n;
			m->b = parse_expr(p);
			if (p->tok.kind != ']') {
				parse_expect(p, ']', "behind the index");
				break;
			}
		} else if (op == T_INC || op == T_DEC) {
			m = parse_node(p, N_INCDEC, n->pos);
			m->op = op;
			m->a = n;
		} else {
			break;
		}
		parse_advance(p);
		parse_end_at(p, m);
		n = m;
	}
	return n;
}

static struct node *parse_unary(struct parser *p)
{
	uint32_t pos = p->tok.pos;
	int op = p->tok.kind;
	struct node *n;

	if (op != '-' && op != '!' && op != '~' && op != '*' && op != '&' && op != T_INC &&
	    op != T_DEC)
		return parse_postfix(p);
	if (!parse_deeper(p, "this expression is"))
		return parse_node(p, N_INT, pos);
	parse_advance(p);
	n = parse_node(p, op == T_INC || op == T_DEC ? N_INCDEC : N_UN, pos);
	n->op = op;
	n->v = 1;
	n->a = parse_unary(p);
	parse_end_at(p, n);
	p->depth--;
	return n;
}

/* "/ {" ends a predicate; blanks and comments may stand between. */
static bool block_follows(const struct parser *p)
{
	const char *s = p->lex.text + p->lex.at, *end = p->lex.text + p->lex.n;

	for (;;) {
		const char *to;

		while (s < end && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n'))
			s++;
		if (end - s < 2 || s[0] != '/' || (s[1] != '/' && s[1] != '*'))
			return s < end && *s == '{';
		to = s[1] == '/' ? memchr(s, '\n', (size_t)(end - s))
				 : memmem(s + 2, (size_t)(end - s - 2), "*/", 2);
		if (!to)
			return false;
		s = to + (s[1] == '/' ? 1 : 2);
	}
}

static int parse_precedence(const struct parser *p)
{
	static const struct {
		int tok, prec;
	} ops[] = {
		{ '*', 10 },  { '%', 10 }, { '/', 10 }, { '+', 9 },  { '-', 9 },   { T_SHL, 8 },
		{ T_SHR, 8 }, { '<', 7 },  { '>', 7 },	{ T_LE, 7 }, { T_GE, 7 },  { T_EQ, 6 },
		{ T_NE, 6 },  { '&', 5 },  { '^', 4 },	{ '|', 3 },  { T_AND, 2 }, { T_OR, 1 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].tok == p->tok.kind)
			return ops[i].tok == '/' && p->in_predicate && block_follows(p)
				       ? 0
				       : ops[i].prec;
	return 0;
}

struct node *parse_binary(struct parser *p, int min)
{
	struct node *left = parse_unary(p), *n;
	unsigned links = 0;
	int prec;

	while (!p->failed && (prec = parse_precedence(p)) >= min && prec > 0) {
		int op = p->tok.kind;

		if (++links > 1000) {
			parse_fail(p, "this expression has too many parts");
			break;
		}
		parse_advance(p);
		n = parse_node(p, N_BIN, left->pos);
		n->op = op;
		n->a = left;
		n->b = parse_binary(p, prec + 1);
		parse_end_at(p, n);
		left = n;
	}
	return left;
}

struct node *parse_expr(struct parser *p)
{
	struct node *cond, *n;

	if (!parse_deeper(p, "this expression is"))
		return parse_node(p, N_INT, p->tok.pos);
	cond = parse_binary(p, 1);
	if (parse_accept(p, '?')) {
		n = parse_node(p, N_TERN, cond->pos);
		n->a = cond;
		n->b = parse_expr(p);
		parse_expect(p, ':', "in the conditional expression");
		n->c = parse_expr(p);
		parse_end_at(p, n);
		cond = n;
	}
	p->depth--;
	return cond;
}
