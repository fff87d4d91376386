/* SPDX-License-Identifier: MIT */
/* Print formats, from text to trees: a scanner and a parser for C's expressions. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "event/printfmt_impl.h"

#define MAX_DEPTH 64
#define MAX_NODES 20000
#define MAX_PIECES 1000

enum token_kind { T_END, T_STRING, T_NAME, T_NUMBER, T_OP };

struct token {
	enum token_kind kind;
	const char *s;
	size_t n;
	uint64_t value;
	unsigned op;
};

struct parser {
	const struct event_type *type;
	struct arena *arena;
	unsigned long_size;
	const char *p;
	struct token now;
	unsigned depth, nodes;
	bool failed;
	struct err *e;
};

__attribute__((format(printf, 2, 3))) static struct node *fail(struct parser *p, const char *fmt,
							       ...)
{
	if (!p->failed) {
		char text[256];
		va_list ap;

		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		err_set(p->e, EINVAL, "print fmt of %s: %s", p->type->event ? p->type->event : "?",
			text);
	}
	p->failed = true;
	return NULL;
}

/* --- scanner --- */

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void scan_number(struct parser *p)
{
	char *end;

	p->now.kind = T_NUMBER;
	p->now.value = strtoull(p->p, &end, 0);
	while (*end && strchr("uUlL", *end))
		end++;
	p->p = end;
}

static void scan_op(struct parser *p)
{
	static const char *const two[] = { "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||" };

	p->now.kind = T_OP;
	p->now.op = (unsigned char)*p->p;
	for (size_t i = 0; i < ARRAY_SIZE(two); i++)
		if (strncmp(p->p, two[i], 2) == 0) {
			p->now.op = OP2(two[i][0], two[i][1]);
			p->p++;
			break;
		}
	p->p++;
}

static void next(struct parser *p)
{
	while (isspace((unsigned char)*p->p))
		p->p++;
	p->now = (struct token){ .s = p->p };
	if (!*p->p) {
		p->now.kind = T_END;
	} else if (*p->p == '"') {
		const char *q = p->p + 1;

		while (*q && *q != '"')
			q += *q == '\\' && q[1] ? 2 : 1;
		p->now = (struct token){ T_STRING, p->p + 1, (size_t)(q - p->p) - 1, 0, 0 };
		p->p = *q ? q + 1 : q;
	} else if (*p->p == '\'' && p->p[1] && p->p[2] == '\'') {
		p->now.kind = T_NUMBER;
		p->now.value = (unsigned char)p->p[1];
		p->p += 3;
	} else if (isdigit((unsigned char)*p->p)) {
		scan_number(p);
	} else if (name_char(*p->p)) {
		while (name_char(*p->p))
			p->p++;
		p->now.kind = T_NAME;
		p->now.n = (size_t)(p->p - p->now.s);
	} else {
		scan_op(p);
	}
}

static bool is_op(const struct parser *p, unsigned op)
{
	return p->now.kind == T_OP && p->now.op == op;
}

static bool is_name(const struct parser *p, const char *name)
{
	return p->now.kind == T_NAME && p->now.n == strlen(name) &&
	       memcmp(p->now.s, name, p->now.n) == 0;
}

static bool take(struct parser *p, unsigned op)
{
	if (!is_op(p, op)) {
		fail(p, "expected '%c' before '%.20s'", (char)op, p->now.s);
		return false;
	}
	next(p);
	return true;
}

/* Adjacent literals are one; escapes as in C. */
static const char *take_string(struct parser *p)
{
	AUTO_STRBUF b = { 0 };

	while (p->now.kind == T_STRING) {
		for (size_t i = 0; i < p->now.n; i++) {
			char c = p->now.s[i];

			if (c == '\\' && i + 1 < p->now.n) {
				c = p->now.s[++i];
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
			}
			strbuf_putc(&b, c);
		}
		next(p);
	}
	return arena_strdup(p->arena, strbuf_str(&b));
}

/* --- expressions --- */

static struct node *expression(struct parser *p);

static struct node *node(struct parser *p, enum node_kind kind)
{
	struct node *n;

	if (++p->nodes > MAX_NODES)
		return fail(p, "too long");
	n = arena_alloc(p->arena, sizeof(*n));
	n->kind = kind;
	return n;
}

static struct node *field_node(struct parser *p, enum node_kind kind)
{
	struct node *n = node(p, kind);
	AUTO_FREE char *name = mem_strndup(p->now.s, p->now.n);

	if (!n || p->now.kind != T_NAME)
		return fail(p, "a field's name is missing");
	n->field = type_field(p->type, name);
	if (!n->field)
		return fail(p, "there is no field '%s'", name);
	next(p);
	return n;
}

/* (name) of a dynamic field */
static struct node *dynamic_node(struct parser *p, enum node_kind kind)
{
	struct node *n;

	if (!take(p, '('))
		return NULL;
	n = field_node(p, kind);
	if (n && n->field->kind != FIELD_DATA_LOC && n->field->kind != FIELD_REL_LOC)
		return fail(p, "'%s' is not dynamic", n->field->name);
	return n && take(p, ')') ? n : NULL;
}

static const char *const softirqs[] = { "HI_SOFTIRQ",	   "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ",
					"NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ", "IRQ_POLL_SOFTIRQ",
					"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ",
					"RCU_SOFTIRQ" };

static bool constant(const struct node *n, uint64_t *ret);

/* { value, "text" }, ... up to the closing ')' */
static bool choices(struct parser *p, struct node *n)
{
	VEC(struct choice) list = { 0 };

	while (!p->failed && is_op(p, '{')) {
		struct choice c = { 0 };
		struct node *value;
		bool known = false;

		next(p);
		if (is_op(p, '}')) { /* an empty one ends some lists */
			next(p);
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(softirqs); i++)
			if (is_name(p, softirqs[i])) {
				c.value = i;
				known = true;
				next(p);
				break;
			}
		if (!known && p->now.kind == T_NAME && *p->p == ',') {
			/* An enum the kernel did not turn into its number: equal to nothing. */
			c.value = UINT64_MAX;
			known = true;
			next(p);
		}
		if (!known) {
			value = expression(p);
			if (!value || !constant(value, &c.value))
				fail(p, "not a constant");
		}
		if (p->failed || !take(p, ','))
			break;
		if (p->now.kind == T_STRING)
			c.text = take_string(p);
		else
			expression(p); /* NULL */
		if (p->failed)
			break;
		if (!take(p, '}'))
			break;
		if (c.text && list.n < MAX_NODES)
			vec_push(&list, c);
		if (is_op(p, ','))
			next(p);
	}
	if (!p->failed) {
		n->choices = arena_dup(p->arena, list.data, list.n * sizeof(*list.data));
		n->n_choices = list.n;
	}
	vec_free(&list);
	return !p->failed && take(p, ')');
}

static struct node *choice_node(struct parser *p, enum node_kind kind)
{
	struct node *n = node(p, kind);

	if (!n || !take(p, '('))
		return NULL;
	n->a = expression(p);
	if (p->failed || !take(p, ','))
		return NULL;
	if (kind == NODE_FLAGS) {
		if (p->now.kind != T_STRING)
			return fail(p, "a delimiter is missing");
		n->text = take_string(p);
		if (is_op(p, ','))
			next(p);
	}
	return choices(p, n) ? n : NULL;
}

/* name(a, b[, c]) */
static struct node *array_node(struct parser *p, enum node_kind kind, int args)
{
	struct node *n = node(p, kind);

	if (!n || !take(p, '('))
		return NULL;
	n->a = expression(p);
	if (p->failed || !take(p, ','))
		return NULL;
	n->b = expression(p);
	if (args == 3 && !p->failed && take(p, ','))
		n->c = expression(p);
	return !p->failed && take(p, ')') ? n : NULL;
}

static const struct {
	const char *name;
	enum node_kind kind;
	int args; /* 0: a field, -1: choices */
} functions[] = {
	{ "__print_flags", NODE_FLAGS, -1 },
	{ "__print_symbolic", NODE_SYMBOLIC, -1 },
	{ "__print_hex", NODE_HEX, 2 },
	{ "__print_hex_str", NODE_HEX_STR, 2 },
	{ "__print_array", NODE_ARRAY, 3 },
	{ "__get_str", NODE_STRING, 0 },
	{ "__get_rel_str", NODE_STRING, 0 },
	{ "__get_dynamic_array", NODE_DYNAMIC, 0 },
	{ "__get_rel_dynamic_array", NODE_DYNAMIC, 0 },
	{ "__get_sockaddr", NODE_DYNAMIC, 0 },
	{ "__get_rel_sockaddr", NODE_DYNAMIC, 0 },
	{ "__get_dynamic_array_len", NODE_LENGTH, 0 },
	{ "__get_rel_dynamic_array_len", NODE_LENGTH, 0 },
	{ "__get_bitmask", NODE_BITMASK, 0 },
	{ "__get_rel_bitmask", NODE_BITMASK, 0 },
	{ "__get_cpumask", NODE_CPUMASK, 0 },
	{ "__get_rel_cpumask", NODE_CPUMASK, 0 },
};

/* Words a type can be made of. */
static bool is_type_word(const struct parser *p)
{
	static const char *const words[] = { "unsigned", "signed", "int",   "long",   "char",
					     "short",	 "void",   "const", "struct", "enum",
					     "bool",	 "uint",   "ulong", "ushort", "uchar" };

	if (p->now.kind != T_NAME)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (is_name(p, words[i]))
			return true;
	/* u8, s64, __u32, __le16, gfp_t, dev_t */
	if (p->now.n > 2 && memcmp(p->now.s + p->now.n - 2, "_t", 2) == 0)
		return true;
	return p->now.n >= 2 && isdigit((unsigned char)p->now.s[p->now.n - 1]) &&
	       (strchr("us", p->now.s[0]) || memcmp(p->now.s, "__", 2) == 0) &&
	       memmem(p->now.s, p->now.n, "SOFTIRQ", 7) == NULL;
}

/* What stands between the parentheses of a cast or sizeof: its size in bytes. */
static void type_name(struct parser *p, struct node *n)
{
	unsigned longs = 0;
	bool sized = false;

	n->is_signed = true;
	n->value = 4;
	while (p->now.kind == T_NAME || is_op(p, '*')) {
		if (is_op(p, '*')) {
			n->is_pointer = true;
		} else if (is_name(p, "unsigned") || is_name(p, "uint")) {
			n->is_signed = false;
			sized = sized || is_name(p, "uint");
		} else if (is_name(p, "ulong")) {
			n->is_signed = false;
			n->value = p->long_size;
			sized = true;
		} else if (is_name(p, "char") || is_name(p, "bool")) {
			n->value = 1;
			sized = true;
		} else if (is_name(p, "short")) {
			n->value = 2;
			sized = true;
		} else if (is_name(p, "long")) {
			n->value = ++longs > 1 ? 8 : p->long_size;
			sized = true;
		} else if (is_name(p, "int")) {
			sized = true;
		} else if (memmem(p->now.s, p->now.n, "64", 2)) {
			n->value = 8;
			n->is_signed = memchr(p->now.s, 's', p->now.n);
			sized = true;
		} else if (memmem(p->now.s, p->now.n, "32", 2)) {
			n->is_signed = memchr(p->now.s, 's', p->now.n);
			sized = true;
		} else if (memmem(p->now.s, p->now.n, "16", 2)) {
			n->value = 2;
			n->is_signed = memchr(p->now.s, 's', p->now.n);
			sized = true;
		} else if (p->now.s[p->now.n - 1] == '8') {
			n->value = 1;
			n->is_signed = memchr(p->now.s, 's', p->now.n);
			sized = true;
		}
		next(p);
	}
	/* Types we do not know keep the value as it is. */
	if (!sized && !n->is_pointer)
		n->value = 8;
}

static struct node *name_expression(struct parser *p)
{
	struct node *n;

	if (is_name(p, "REC")) {
		next(p);
		if (!take(p, OP2('-', '>')))
			return NULL;
		return field_node(p, NODE_FIELD);
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!is_name(p, functions[i].name))
			continue;
		next(p);
		if (functions[i].args < 0)
			return choice_node(p, functions[i].kind);
		if (functions[i].args == 0)
			return dynamic_node(p, functions[i].kind);
		return array_node(p, functions[i].kind, functions[i].args);
	}
	if (is_name(p, "__builtin_expect")) {
		next(p);
		if (!take(p, '('))
			return NULL;
		n = expression(p);
		if (p->failed || !take(p, ','))
			return NULL;
		expression(p);
		return !p->failed && take(p, ')') ? n : NULL;
	}
	if (is_name(p, "sizeof")) {
		n = node(p, NODE_NUMBER);
		next(p);
		if (!n || !take(p, '('))
			return NULL;
		if (is_name(p, "REC")) {
			struct node *of = name_expression(p);

			n->value = of && of->field ? of->field->size : 0;
		} else {
			type_name(p, n);
			n->value = n->is_pointer ? p->long_size : n->value;
		}
		return !p->failed && take(p, ')') ? n : NULL;
	}
	if (*p->p == '(')
		return fail(p, "'%.*s()' is not known", (int)(p->now.n > 60 ? 60 : p->now.n),
			    p->now.s);
	/* A variable or enum of the kernel: perf takes it as 0 as well. */
	n = node(p, NODE_NUMBER);
	next(p);
	return n;
}

static struct node *unary(struct parser *p);

static struct node *parenthesis(struct parser *p)
{
	struct node *n;

	next(p);
	if (is_type_word(p)) {
		n = node(p, NODE_CAST);
		if (!n)
			return NULL;
		type_name(p, n);
		if (!take(p, ')'))
			return NULL;
		n->a = unary(p);
		return p->failed ? NULL : n;
	}
	n = expression(p);
	return !p->failed && take(p, ')') ? n : NULL;
}

static struct node *primary(struct parser *p)
{
	struct node *n = NULL, *index;

	if (p->now.kind == T_STRING) {
		n = node(p, NODE_TEXT);
		if (n)
			n->text = take_string(p);
	} else if (p->now.kind == T_NUMBER) {
		n = node(p, NODE_NUMBER);
		if (n)
			n->value = p->now.value;
		next(p);
	} else if (p->now.kind == T_NAME) {
		n = name_expression(p);
	} else if (is_op(p, '(')) {
		n = parenthesis(p);
	} else {
		return fail(p, "an expression is missing before '%.20s'", p->now.s);
	}
	while (!p->failed && is_op(p, '[')) {
		next(p);
		index = node(p, NODE_INDEX);
		if (!index)
			return NULL;
		index->a = n;
		index->b = expression(p);
		if (p->failed || !take(p, ']'))
			return NULL;
		n = index;
	}
	return p->failed ? NULL : n;
}

static struct node *unary(struct parser *p)
{
	struct node *n;

	if (++p->depth > MAX_DEPTH)
		return fail(p, "nested too deeply");
	if (is_op(p, '!') || is_op(p, '~') || is_op(p, '-') || is_op(p, '+') || is_op(p, '&') ||
	    is_op(p, '*')) {
		n = node(p, NODE_UNARY);
		if (n) {
			n->op = p->now.op;
			next(p);
			n->a = unary(p);
		}
	} else {
		n = primary(p);
	}
	p->depth--;
	return p->failed ? NULL : n;
}

static int strength(const struct parser *p)
{
	if (p->now.kind != T_OP)
		return 0;
	switch (p->now.op) {
	case '*':
	case '/':
	case '%': return 10;
	case '+':
	case '-': return 9;
	case OP2('<', '<'):
	case OP2('>', '>'): return 8;
	case '<':
	case '>':
	case OP2('<', '='):
	case OP2('>', '='): return 7;
	case OP2('=', '='):
	case OP2('!', '='): return 6;
	case '&': return 5;
	case '^': return 4;
	case '|': return 3;
	case OP2('&', '&'): return 2;
	case OP2('|', '|'): return 1;
	default: return 0;
	}
}

static struct node *binary(struct parser *p, int least)
{
	struct node *left = unary(p), *n;
	int s;

	while (!p->failed && (s = strength(p)) >= least && s > 0) {
		n = node(p, NODE_BINARY);
		if (!n)
			return NULL;
		n->op = p->now.op;
		next(p);
		n->a = left;
		n->b = binary(p, s + 1);
		left = n;
	}
	return p->failed ? NULL : left;
}

static struct node *expression(struct parser *p)
{
	struct node *n, *test;

	if (++p->depth > MAX_DEPTH)
		return fail(p, "nested too deeply");
	test = binary(p, 1);
	if (!p->failed && is_op(p, '?')) {
		n = node(p, NODE_CHOICE);
		next(p);
		if (n) {
			n->a = test;
			n->b = expression(p);
			if (!p->failed && take(p, ':'))
				n->c = expression(p);
		}
		test = n;
	}
	p->depth--;
	return p->failed ? NULL : test;
}

static bool constant(const struct node *n, uint64_t *ret)
{
	uint64_t a = 0, b = 0;

	switch (n->kind) {
	case NODE_NUMBER: *ret = n->value; return true;
	case NODE_CAST: return constant(n->a, ret);
	case NODE_UNARY:
		if (!constant(n->a, &a))
			return false;
		*ret = n->op == '-' ? -a : n->op == '~' ? ~a : n->op == '!' ? !a : a;
		return true;
	case NODE_BINARY:
		if (!constant(n->a, &a) || !constant(n->b, &b))
			return false;
		return printfmt_operate(n->op, a, b, ret);
	default: return false;
	}
}

/* --- the format string --- */

/* %[flags][width][.precision][length]conversion; where it ends, or NULL. */
static const char *conversion(struct parser *p, const char *s, struct piece *piece)
{
	const char *start = s++;
	size_t n = 1;

	piece->spec[0] = '%';
	piece->plain = true;
	for (; *s; s++) {
		if (strchr("-+ #0123456789.*", *s)) {
			piece->plain = false;
			if (n < sizeof(piece->spec) - 5)
				piece->spec[n++] = *s;
		} else if (*s == 'l' || *s == 'j') {
			piece->length++;
		} else if (*s == 'L') {
			piece->length = 2;
		} else if (*s == 'h') {
			piece->length--;
		} else if (*s != 'z' && *s != 'Z' && *s != 't') {
			break;
		}
	}
	if (!*s || piece->length > 2 || piece->length < -2) {
		fail(p, "what is '%.20s'?", start);
		return NULL;
	}
	if (memchr(start, 'z', (size_t)(s - start)) || memchr(start, 'Z', (size_t)(s - start)))
		piece->length = 1;
	piece->conversion = *s++;
	piece->spec[n] = '\0';
	if (piece->conversion == 'p' && isalnum((unsigned char)*s)) {
		piece->extension = *s++;
		n = 0;
		while (strchr("Ii", piece->extension) && n < 3 && *s && strchr("46Scp", *s))
			piece->sub[n++] = *s++;
		while (piece->extension == 'b' && n < 1 && *s == 'l')
			piece->sub[n++] = *s++;
		while (piece->extension == 'U' && n < 1 && *s && strchr("bBlL", *s))
			piece->sub[n++] = *s++;
	}
	return s;
}

static const struct node *argument(struct parser *p)
{
	if (!is_op(p, ',')) {
		fail(p, "too few arguments");
		return NULL;
	}
	next(p);
	return expression(p);
}

/* Cut the format into pieces and give each its argument. */
static void pieces(struct parser *p, const char *s, struct printfmt *f)
{
	VEC(struct piece) list = { 0 };
	AUTO_STRBUF text = { 0 };

	for (;;) {
		struct piece piece = { 0 };

		strbuf_reset(&text);
		while (*s && (*s != '%' || s[1] == '%')) {
			strbuf_putc(&text, *s);
			s += *s == '%' ? 2 : 1;
		}
		piece.text = arena_dup(p->arena, strbuf_str(&text), text.n + 1);
		piece.text_n = (uint32_t)text.n;
		if (*s) {
			s = conversion(p, s, &piece);
			if (s && strchr(piece.spec, '*'))
				piece.width = argument(p);
			if (s && !p->failed)
				piece.arg = argument(p);
		}
		if (p->failed || list.n >= MAX_PIECES)
			break;
		vec_push(&list, piece);
		if (!piece.conversion)
			break;
	}
	f->pieces = arena_dup(p->arena, list.data, list.n * sizeof(*list.data));
	f->n = list.n;
	vec_free(&list);
}

int printfmt_compile(const struct event_type *t, struct arena *a, unsigned long_size,
		     const struct printfmt **ret, struct err *e)
{
	struct parser p = { .type = t,
			    .arena = a,
			    .long_size = long_size ? long_size : 8,
			    .p = t->print_fmt ? t->print_fmt : "",
			    .e = e };
	struct printfmt *f = arena_alloc(a, sizeof(*f));

	f->type = t;
	f->long_size = p.long_size;
	next(&p);
	if (p.now.kind != T_STRING) {
		fail(&p, "it does not begin with a format");
	} else {
		const char *format = take_string(&p);

		pieces(&p, format, f);
	}
	if (p.failed)
		return -EINVAL;
	*ret = f;
	return 0;
}
