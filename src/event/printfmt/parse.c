/* SPDX-License-Identifier: MIT */
/* Print formats, from text to trees: a parser for C's expressions. */
#include <ctype.h>
#include <string.h>

#include "base/vec.h"
#include "event/printfmt/impl.h"

#define MAX_DEPTH 64
#define MAX_NODES 20000

static struct node *node(struct parser *p, enum node_kind kind)
{
	struct node *n;

	if (++p->nodes > MAX_NODES)
		return scan_fail(p, "too long");
	n = arena_alloc(p->arena, sizeof(*n));
	n->kind = kind;
	return n;
}

static struct node *field_node(struct parser *p, enum node_kind kind)
{
	struct node *n = node(p, kind);
	AUTO_FREE char *name = mem_strndup(p->now.s, p->now.n);

	if (!n || p->now.kind != T_NAME)
		return scan_fail(p, "a field's name is missing");
	n->field = type_field(p->type, name);
	if (!n->field)
		return scan_fail(p, "there is no field '%s'", name);
	scan_next(p);
	return n;
}

/* (name) of a dynamic field */
static struct node *dynamic_node(struct parser *p, enum node_kind kind)
{
	struct node *n;

	if (!scan_take(p, '('))
		return NULL;
	n = field_node(p, kind);
	if (n && n->field->kind != FIELD_DATA_LOC && n->field->kind != FIELD_REL_LOC)
		return scan_fail(p, "'%s' is not dynamic", n->field->name);
	return n && scan_take(p, ')') ? n : NULL;
}

static const char *const softirqs[] = { "HI_SOFTIRQ",	   "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ",
					"NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ", "IRQ_POLL_SOFTIRQ",
					"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ",
					"RCU_SOFTIRQ" };

static bool printfmt_parse_constant(const struct node *n, uint64_t *ret);

/* { value, "text" }, ... up to the closing ')' */
static bool choices(struct parser *p, struct node *n)
{
	VEC(struct choice) list = { 0 };

	while (!p->failed && scan_is_op(p, '{')) {
		struct choice c = { 0 };
		struct node *value;
		bool known = false;

		scan_next(p);
		if (scan_is_op(p, '}')) { /* an empty one ends some lists */
			scan_next(p);
			continue;
		}
		for (size_t i = 0; i < ARRAY_SIZE(softirqs); i++)
			if (scan_is_name(p, softirqs[i])) {
				c.value = i;
				known = true;
				scan_next(p);
				break;
			}
		if (!known && p->now.kind == T_NAME && *p->p == ',') {
			/* An enum the kernel did not turn into its number: equal to nothing. */
			c.value = UINT64_MAX;
			known = true;
			scan_next(p);
		}
		if (!known) {
			value = printfmt_expression(p);
			if (!value || !printfmt_parse_constant(value, &c.value))
				scan_fail(p, "not a constant");
		}
		if (p->failed || !scan_take(p, ','))
			break;
		if (p->now.kind == T_STRING)
			c.text = scan_take_string(p);
		else
			printfmt_expression(p); /* NULL */
		if (p->failed)
			break;
		if (!scan_take(p, '}'))
			break;
		if (c.text && list.n < MAX_NODES)
			vec_push(&list, c);
		if (scan_is_op(p, ','))
			scan_next(p);
	}
	if (!p->failed) {
		n->choices = arena_dup(p->arena, list.data, list.n * sizeof(*list.data));
		n->n_choices = list.n;
	}
	vec_free(&list);
	return !p->failed && scan_take(p, ')');
}

/* "(a," of a function with several arguments. */
static struct node *first_argument(struct parser *p, enum node_kind kind)
{
	struct node *n = node(p, kind);

	if (!n || !scan_take(p, '('))
		return NULL;
	n->a = printfmt_expression(p);
	return !p->failed && scan_take(p, ',') ? n : NULL;
}

static struct node *choice_node(struct parser *p, enum node_kind kind)
{
	struct node *n = first_argument(p, kind);

	if (!n)
		return NULL;
	if (kind == NODE_FLAGS) {
		if (p->now.kind != T_STRING)
			return scan_fail(p, "a delimiter is missing");
		n->text = scan_take_string(p);
		if (scan_is_op(p, ','))
			scan_next(p);
	}
	return choices(p, n) ? n : NULL;
}

/* name(a, b[, c]) */
static struct node *array_node(struct parser *p, enum node_kind kind, int args)
{
	struct node *n = first_argument(p, kind);

	if (!n)
		return NULL;
	n->b = printfmt_expression(p);
	if (args == 3 && !p->failed && scan_take(p, ','))
		n->c = printfmt_expression(p);
	return !p->failed && scan_take(p, ')') ? n : NULL;
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
		if (scan_is_name(p, words[i]))
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
	while (p->now.kind == T_NAME || scan_is_op(p, '*')) {
		if (scan_is_op(p, '*')) {
			n->is_pointer = true;
		} else if (scan_is_name(p, "unsigned") || scan_is_name(p, "uint")) {
			n->is_signed = false;
			sized = sized || scan_is_name(p, "uint");
		} else if (scan_is_name(p, "ulong")) {
			n->is_signed = false;
			n->value = p->long_size;
			sized = true;
		} else if (scan_is_name(p, "char") || scan_is_name(p, "bool")) {
			n->value = 1;
			sized = true;
		} else if (scan_is_name(p, "short")) {
			n->value = 2;
			sized = true;
		} else if (scan_is_name(p, "long")) {
			n->value = ++longs > 1 ? 8 : p->long_size;
			sized = true;
		} else if (scan_is_name(p, "int")) {
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
		scan_next(p);
	}
	/* Types we do not know keep the value as it is. */
	if (!sized && !n->is_pointer)
		n->value = 8;
}

static struct node *name_expression(struct parser *p)
{
	struct node *n;

	if (scan_is_name(p, "REC")) {
		scan_next(p);
		if (!scan_take(p, OP2('-', '>')))
			return NULL;
		return field_node(p, NODE_FIELD);
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!scan_is_name(p, functions[i].name))
			continue;
		scan_next(p);
		if (functions[i].args < 0)
			return choice_node(p, functions[i].kind);
		if (functions[i].args == 0)
			return dynamic_node(p, functions[i].kind);
		return array_node(p, functions[i].kind, functions[i].args);
	}
	if (scan_is_name(p, "__builtin_expect")) {
		scan_next(p);
		n = first_argument(p, NODE_CAST);
		if (n)
			printfmt_expression(p);
		return n && !p->failed && scan_take(p, ')') ? (struct node *)n->a : NULL;
	}
	if (scan_is_name(p, "sizeof")) {
		n = node(p, NODE_NUMBER);
		scan_next(p);
		if (!n || !scan_take(p, '('))
			return NULL;
		if (scan_is_name(p, "REC")) {
			struct node *of = name_expression(p);

			n->value = of && of->field ? of->field->size : 0;
		} else {
			type_name(p, n);
			n->value = n->is_pointer ? p->long_size : n->value;
		}
		return !p->failed && scan_take(p, ')') ? n : NULL;
	}
	if (*p->p == '(')
		return scan_fail(p, "'%.*s()' is not known", (int)(p->now.n > 60 ? 60 : p->now.n),
				 p->now.s);
	/* A variable or enum of the kernel: perf takes it as 0 as well. */
	n = node(p, NODE_NUMBER);
	scan_next(p);
	return n;
}

static struct node *unary(struct parser *p);

static struct node *parenthesis(struct parser *p)
{
	struct node *n;

	scan_next(p);
	if (is_type_word(p)) {
		n = node(p, NODE_CAST);
		if (!n)
			return NULL;
		type_name(p, n);
		if (!scan_take(p, ')'))
			return NULL;
		n->a = unary(p);
		return p->failed ? NULL : n;
	}
	n = printfmt_expression(p);
	return !p->failed && scan_take(p, ')') ? n : NULL;
}

static struct node *primary(struct parser *p)
{
	struct node *n = NULL, *index;

	if (p->now.kind == T_STRING) {
		n = node(p, NODE_TEXT);
		if (n)
			n->text = scan_take_string(p);
	} else if (p->now.kind == T_NUMBER) {
		n = node(p, NODE_NUMBER);
		if (n)
			n->value = p->now.value;
		scan_next(p);
	} else if (p->now.kind == T_NAME) {
		n = name_expression(p);
	} else if (scan_is_op(p, '(')) {
		n = parenthesis(p);
	} else {
		return scan_fail(p, "an expression is missing before '%.20s'", p->now.s);
	}
	while (!p->failed && scan_is_op(p, '[')) {
		scan_next(p);
		index = node(p, NODE_INDEX);
		if (!index)
			return NULL;
		index->a = n;
		index->b = printfmt_expression(p);
		if (p->failed || !scan_take(p, ']'))
			return NULL;
		n = index;
	}
	return p->failed ? NULL : n;
}

static struct node *unary(struct parser *p)
{
	struct node *n;

	if (++p->depth > MAX_DEPTH)
		return scan_fail(p, "nested too deeply");
	if (p->now.kind == T_OP && p->now.op < 128 && strchr("!~-+&*", (int)p->now.op)) {
		n = node(p, NODE_UNARY);
		if (n) {
			n->op = p->now.op;
			scan_next(p);
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
	static const struct {
		unsigned op;
		int strength;
	} ops[] = { { '*', 10 },	  { '/', 10 },		{ '%', 10 },
		    { '+', 9 },		  { '-', 9 },		{ OP2('<', '<'), 8 },
		    { OP2('>', '>'), 8 }, { '<', 7 },		{ '>', 7 },
		    { OP2('<', '='), 7 }, { OP2('>', '='), 7 }, { OP2('=', '='), 6 },
		    { OP2('!', '='), 6 }, { '&', 5 },		{ '^', 4 },
		    { '|', 3 },		  { OP2('&', '&'), 2 }, { OP2('|', '|'), 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (scan_is_op(p, ops[i].op))
			return ops[i].strength;
	return 0;
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
		scan_next(p);
		n->a = left;
		n->b = binary(p, s + 1);
		left = n;
	}
	return p->failed ? NULL : left;
}

struct node *printfmt_expression(struct parser *p)
{
	struct node *n, *test;

	if (++p->depth > MAX_DEPTH)
		return scan_fail(p, "nested too deeply");
	test = binary(p, 1);
	if (!p->failed && scan_is_op(p, '?')) {
		n = node(p, NODE_CHOICE);
		scan_next(p);
		if (n) {
			n->a = test;
			n->b = printfmt_expression(p);
			if (!p->failed && scan_take(p, ':'))
				n->c = printfmt_expression(p);
		}
		test = n;
	}
	p->depth--;
	return p->failed ? NULL : test;
}

static bool printfmt_parse_constant(const struct node *n, uint64_t *ret)
{
	uint64_t a = 0, b = 0;

	switch (n->kind) {
	case NODE_NUMBER: *ret = n->value; return true;
	case NODE_CAST: return printfmt_parse_constant(n->a, ret);
	case NODE_UNARY:
		if (!printfmt_parse_constant(n->a, &a))
			return false;
		*ret = n->op == '-' ? -a : n->op == '~' ? ~a : n->op == '!' ? !a : a;
		return true;
	case NODE_BINARY:
		if (!printfmt_parse_constant(n->a, &a) || !printfmt_parse_constant(n->b, &b))
			return false;
		return printfmt_operate(n->op, a, b, ret);
	default: return false;
	}
}
