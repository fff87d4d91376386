/* SPDX-License-Identifier: MIT */
/* The expression of a filter: comparisons, && and ||, a caret below what is not understood. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/read/ftrace_filter_impl.h"

#define MAX_DEPTH 100

static struct filter_node *ftrace_filter_parse_make(struct filter_parser *p, enum filter_kind kind)
{
	struct filter_node *n = arena_alloc(&p->f->arena, sizeof(*n));

	n->kind = kind;
	vec_push(&p->f->nodes, n);
	return n;
}

struct filter_node *ftrace_filter_fail(struct filter_parser *p, const char *why)
{
	if (!p->failed)
		err_set(p->e, EINVAL, "filter '%s': %s\n  %s\n  %*s^", p->text, why, p->text,
			(int)(p->p - p->text), "");
	p->failed = true;
	return ftrace_filter_parse_make(p, NODE_NUMBER);
}

static void skip(struct filter_parser *p)
{
	while (isspace((unsigned char)*p->p))
		p->p++;
}

static bool ftrace_filter_parse_take(struct filter_parser *p, const char *op)
{
	size_t n = strlen(op);

	skip(p);
	if (strncmp(p->p, op, n) != 0)
		return false;
	p->p += n;
	return true;
}

static struct filter_node *parse_logic(struct filter_parser *p, enum filter_kind kind);

static struct filter_node *parse_word(struct filter_parser *p)
{
	const char *start = p->p;
	struct filter_node *n;
	char *end;

	if (*p->p == '"' || *p->p == '\'') {
		char quote = *p->p++;

		start = p->p;
		while (*p->p && *p->p != quote)
			p->p++;
		if (!*p->p)
			return ftrace_filter_fail(p, "the quote is not closed");
		n = ftrace_filter_parse_make(p, NODE_TEXT);
		n->text = arena_strndup(&p->f->arena, start, (size_t)(p->p - start));
		p->p++;
		return n;
	}
	if (isdigit((unsigned char)*p->p) || (*p->p == '-' && isdigit((unsigned char)p->p[1]))) {
		n = ftrace_filter_parse_make(p, NODE_NUMBER);
		n->number =
			*p->p == '-' ? (uint64_t)strtoll(p->p, &end, 0) : strtoull(p->p, &end, 0);
		p->p = end;
		return n;
	}
	while (isalnum((unsigned char)*p->p) || *p->p == '_')
		p->p++;
	if (p->p == start)
		return ftrace_filter_fail(p, "a field, a number or a text is missing");
	n = ftrace_filter_parse_make(p, NODE_FIELD);
	n->at = start;
	n->text = arena_strndup(&p->f->arena, start, (size_t)(p->p - start));
	if (strcmp(n->text, "CPU") == 0)
		n->kind = NODE_CPU;
	else if (strcmp(n->text, "COMM") == 0 || strcmp(n->text, "common_comm") == 0)
		n->kind = NODE_COMM;
	else if (strcmp(n->text, "TIMESTAMP") == 0)
		n->kind = NODE_TIME;
	return n;
}

static struct filter_node *parse_unary(struct filter_parser *p)
{
	struct filter_node *n;

	if (++p->depth > MAX_DEPTH)
		return ftrace_filter_fail(p, "it is nested too deeply");
	skip(p);
	if (*p->p == '!' && p->p[1] != '=' && p->p[1] != '~') {
		p->p++;
		n = ftrace_filter_parse_make(p, NODE_NOT);
		n->a = parse_unary(p);
	} else if (ftrace_filter_parse_take(p, "(")) {
		n = parse_logic(p, NODE_OR);
		if (!ftrace_filter_parse_take(p, ")") && !p->failed)
			n = ftrace_filter_fail(p, "')' is missing");
	} else {
		n = parse_word(p);
	}
	p->depth--;
	return n;
}

/* What may stand between two values, the longer first. */
static const char *const operators[] = { "<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^" };

static struct filter_node *parse_value(struct filter_parser *p)
{
	struct filter_node *n = parse_unary(p);

	for (size_t i = 0; i < ARRAY_SIZE(operators) && !p->failed; i++) {
		const char *op = operators[i];
		struct filter_node *both;

		skip(p);
		if (strncmp(p->p, op, strlen(op)) != 0 ||
		    ((*op == '&' || *op == '|') && p->p[1] == *op))
			continue;
		p->p += strlen(op);
		both = ftrace_filter_parse_make(p, NODE_ARITH);
		both->a = n;
		both->b = parse_unary(p);
		memcpy(both->op, op, strlen(op));
		n = both;
		i = (size_t)-1;
	}
	return n;
}

static struct filter_node *parse_compare(struct filter_parser *p)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "=~", "!~", "<", ">" };
	struct filter_node *n = parse_value(p), *both;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!ftrace_filter_parse_take(p, ops[i]))
			continue;
		both = ftrace_filter_parse_make(p, ops[i][1] == '~' ? NODE_MATCH : NODE_COMPARE);
		memcpy(both->op, ops[i], strlen(ops[i]));
		both->a = n;
		both->b = parse_value(p);
		if (both->kind == NODE_MATCH && !p->failed) {
			if (!both->b->text ||
			    regcomp(&both->regex, both->b->text, REG_ICASE | REG_NOSUB))
				return ftrace_filter_fail(p, "no regular expression stands there");
			both->has_regex = true;
		}
		/* a bare word behind COMM is a text */
		if (both->b->kind == NODE_FIELD && (both->has_regex || n->kind == NODE_COMM))
			both->b->kind = NODE_TEXT;
		return both;
	}
	return n;
}

/* a && b && ..., which binds more than ||. */
static struct filter_node *parse_logic(struct filter_parser *p, enum filter_kind kind)
{
	bool or = kind == NODE_OR;
	struct filter_node *n = or ? parse_logic(p, NODE_AND) : parse_compare(p);

	while (!p->failed && ftrace_filter_parse_take(p, or ? "||" : "&&")) {
		struct filter_node *both = ftrace_filter_parse_make(p, kind);

		both->a = n;
		both->b = or ? parse_logic(p, NODE_AND) : parse_compare(p);
		n = both;
	}
	return n;
}

struct filter_node *ftrace_filter_parse(struct filter_parser *p)
{
	struct filter_node *n = parse_logic(p, NODE_OR);

	skip(p);
	if (!p->failed && *p->p)
		ftrace_filter_fail(p, "this does not belong here");
	return n;
}
