/* SPDX-License-Identifier: MIT */
#include "calc/ftrace_filter.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#define MAX_DEPTH 100

enum node_kind {
	NODE_NUMBER,
	NODE_TEXT,
	NODE_FIELD,
	NODE_CPU,
	NODE_COMM,
	NODE_TIME,
	NODE_NOT,
	NODE_AND,
	NODE_OR,
	NODE_COMPARE, /* a op b */
	NODE_MATCH,   /* a =~ pattern */
	NODE_ARITH,
};

struct node {
	enum node_kind kind;
	char op[3];
	uint64_t number;
	const char *text, *at; /* at: where it stands */
	struct node *a, *b;
	regex_t regex;
	bool has_regex;
	/* the field of the type that was asked for last */
	const struct event_type *type;
	const struct field *field;
};

struct ftrace_filter {
	struct arena arena;
	VEC(struct node *) nodes;
	VEC(regex_t) events; /* system and name, in pairs; a name alone twice */
	VEC(bool) paired;
	struct node *root; /* NULL: all records of these events */
	struct map chosen; /* type to 1: no, 2: yes */
};

struct parser {
	struct ftrace_filter *f;
	const char *text, *p;
	int depth;
	struct err *e;
	bool failed;
};

static struct node *make(struct parser *p, enum node_kind kind)
{
	struct node *n = arena_alloc(&p->f->arena, sizeof(*n));

	n->kind = kind;
	vec_push(&p->f->nodes, n);
	return n;
}

static struct node *fail(struct parser *p, const char *why)
{
	if (!p->failed)
		err_set(p->e, EINVAL, "filter '%s': %s\n  %s\n  %*s^", p->text, why, p->text,
			(int)(p->p - p->text), "");
	p->failed = true;
	return make(p, NODE_NUMBER);
}

static void skip(struct parser *p)
{
	while (isspace((unsigned char)*p->p))
		p->p++;
}

static bool take(struct parser *p, const char *op)
{
	size_t n = strlen(op);

	skip(p);
	if (strncmp(p->p, op, n) != 0)
		return false;
	p->p += n;
	return true;
}

static struct node *parse_or(struct parser *p);

static struct node *parse_word(struct parser *p)
{
	const char *start = p->p;
	struct node *n;
	char *end;

	if (*p->p == '"' || *p->p == '\'') {
		char quote = *p->p++;

		start = p->p;
		while (*p->p && *p->p != quote)
			p->p++;
		if (!*p->p)
			return fail(p, "the quote is not closed");
		n = make(p, NODE_TEXT);
		n->text = arena_strndup(&p->f->arena, start, (size_t)(p->p - start));
		p->p++;
		return n;
	}
	if (isdigit((unsigned char)*p->p) || (*p->p == '-' && isdigit((unsigned char)p->p[1]))) {
		n = make(p, NODE_NUMBER);
		n->number =
			*p->p == '-' ? (uint64_t)strtoll(p->p, &end, 0) : strtoull(p->p, &end, 0);
		p->p = end;
		return n;
	}
	while (isalnum((unsigned char)*p->p) || *p->p == '_')
		p->p++;
	if (p->p == start)
		return fail(p, "a field, a number or a text is missing");
	n = make(p, NODE_FIELD);
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

static struct node *parse_unary(struct parser *p)
{
	struct node *n;

	if (++p->depth > MAX_DEPTH)
		return fail(p, "it is nested too deeply");
	skip(p);
	if (*p->p == '!' && p->p[1] != '=' && p->p[1] != '~') {
		p->p++;
		n = make(p, NODE_NOT);
		n->a = parse_unary(p);
	} else if (take(p, "(")) {
		n = parse_or(p);
		if (!take(p, ")") && !p->failed)
			n = fail(p, "')' is missing");
	} else {
		n = parse_word(p);
	}
	p->depth--;
	return n;
}

/* What may stand between two values, the longer first. */
static const char *const operators[] = { "<<", ">>", "+", "-", "*", "/", "%", "&", "|", "^" };

static struct node *parse_value(struct parser *p)
{
	struct node *n = parse_unary(p);

	for (size_t i = 0; i < ARRAY_SIZE(operators) && !p->failed; i++) {
		const char *op = operators[i];
		struct node *both;

		skip(p);
		if (strncmp(p->p, op, strlen(op)) != 0 ||
		    ((*op == '&' || *op == '|') && p->p[1] == *op))
			continue;
		p->p += strlen(op);
		both = make(p, NODE_ARITH);
		both->a = n;
		both->b = parse_unary(p);
		memcpy(both->op, op, strlen(op));
		n = both;
		i = (size_t)-1;
	}
	return n;
}

static struct node *parse_compare(struct parser *p)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "=~", "!~", "<", ">" };
	struct node *n = parse_value(p), *both;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!take(p, ops[i]))
			continue;
		both = make(p, ops[i][1] == '~' ? NODE_MATCH : NODE_COMPARE);
		memcpy(both->op, ops[i], strlen(ops[i]));
		both->a = n;
		both->b = parse_value(p);
		if (both->kind == NODE_MATCH && !p->failed) {
			if (!both->b->text ||
			    regcomp(&both->regex, both->b->text, REG_ICASE | REG_NOSUB))
				return fail(p, "no regular expression stands there");
			both->has_regex = true;
		}
		/* a bare word behind COMM is a text */
		if (both->b->kind == NODE_FIELD && (both->has_regex || n->kind == NODE_COMM))
			both->b->kind = NODE_TEXT;
		return both;
	}
	return n;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_compare(p);

	while (!p->failed && take(p, "&&")) {
		struct node *both = make(p, NODE_AND);

		both->a = n;
		both->b = parse_compare(p);
		n = both;
	}
	return n;
}

static struct node *parse_or(struct parser *p)
{
	struct node *n = parse_and(p);

	while (!p->failed && take(p, "||")) {
		struct node *both = make(p, NODE_OR);

		both->a = n;
		both->b = parse_and(p);
		n = both;
	}
	return n;
}

/* --- events --- */

static int add_regex(struct ftrace_filter *f, const char *text, size_t n, struct err *e)
{
	AUTO_FREE char *whole = mem_printf("^%.*s$", (int)n, text);
	regex_t r;

	if (regcomp(&r, whole, REG_ICASE | REG_NOSUB))
		return err_set(e, EINVAL, "filter: '%.*s' is no regular expression", (int)n, text);
	vec_push(&f->events, r);
	return 0;
}

static bool event_chosen(const struct ftrace_filter *f, size_t i, const char *system,
			 const char *event)
{
	bool name = regexec(&f->events.data[i * 2 + 1], event, 0, NULL, 0) == 0;
	bool sys = regexec(&f->events.data[i * 2], system, 0, NULL, 0) == 0;

	return f->paired.data[i] ? name && sys : name || sys;
}

static bool any_event(const struct ftrace_filter *f, size_t i, const struct ftrace_events *ev)
{
	for (size_t k = 0; k < ev->n; k++)
		if (event_chosen(f, i, ev->system(ev->ctx, k), ev->event(ev->ctx, k)))
			return true;
	return false;
}

static int parse_events(struct ftrace_filter *f, const char *text, size_t n,
			const struct ftrace_events *ev, struct err *e)
{
	const char *end = text + n;
	int r = 0;

	while (text < end && r == 0) {
		const char *comma = memchr(text, ',', (size_t)(end - text)), *stop, *slash;

		stop = comma ? comma : end;
		while (text < stop && isspace((unsigned char)*text))
			text++;
		slash = memchr(text, '/', (size_t)(stop - text));
		r = add_regex(f, text, (size_t)((slash ? slash : stop) - text), e);
		if (r == 0 && slash && slash + 1 == stop)
			r = add_regex(f, ".*", 2, e); /* "sched/": all of it */
		else if (r == 0)
			r = add_regex(f, slash ? slash + 1 : text,
				      (size_t)(stop - (slash ? slash + 1 : text)), e);
		if (r < 0)
			return r;
		vec_push(&f->paired, slash != NULL);
		if (!any_event(f, f->paired.n - 1, ev)) {
			err_set(e, ENOENT, "filter: the recording knows no event '%.*s'",
				(int)(stop - text), text);
			if (stop > text && stop[-1] == '*' && (stop - text < 2 || stop[-2] != '.'))
				return err_hint(e, "events are regular expressions: '%.*s.*'",
						(int)(stop - text - 1), text);
			return err_hint(e, "kymo ftrace report -E lists them; a filter is "
					   "EVENT:EXPRESSION");
		}
		text = comma ? comma + 1 : end;
	}
	return r;
}

/* --- fields --- */

static bool is_text(const struct field *f)
{
	return f->kind == FIELD_STRING || f->is_string;
}

static bool is_chosen(const struct ftrace_filter *f, const struct ftrace_events *ev, size_t k)
{
	for (size_t i = 0; i < f->paired.n; i++)
		if (event_chosen(f, i, ev->system(ev->ctx, k), ev->event(ev->ctx, k)))
			return true;
	return false;
}

/* Has any of the events the field? Also when that cannot be known. text: as a text. */
static bool is_field(const struct ftrace_filter *f, const struct ftrace_events *ev,
		     const char *name, bool text)
{
	bool any = false;

	for (size_t k = 0; k < ev->n; k++) {
		const struct event_type *t = is_chosen(f, ev, k) ? ev->type(ev->ctx, k) : NULL;
		const struct field *field = t ? type_field(t, name) : NULL;

		if (field && (!text || is_text(field)))
			return true;
		any = any || t;
	}
	return !any;
}

static bool is_event(const struct ftrace_events *ev, const char *name)
{
	for (size_t k = 0; k < ev->n; k++)
		if (strcmp(ev->event(ev->ctx, k), name) == 0)
			return true;
	return false;
}

static int check_fields(struct parser *p, const struct ftrace_events *ev)
{
	const struct ftrace_filter *f = p->f;

	/* next_comm == sh: what is no field is meant as text where one is compared with it */
	vec_each (&f->nodes, x) {
		struct node *a = (*x)->a, *b = (*x)->b;

		if ((*x)->kind == NODE_COMPARE && a->kind == NODE_FIELD && b->kind == NODE_FIELD &&
		    !is_field(f, ev, b->text, false) && is_field(f, ev, a->text, true))
			b->kind = NODE_TEXT;
	}
	vec_each (&f->nodes, x) {
		if ((*x)->kind != NODE_FIELD || is_field(f, ev, (*x)->text, false))
			continue;
		p->p = (*x)->at;
		fail(p, "none of these events has such a field");
		if (is_event(ev, (*x)->text))
			return err_hint(p->e, "an event of a system is -F SYSTEM/EVENT");
		return err_hint(p->e, "kymo ftrace report --event EVENT shows its fields");
	}
	return 0;
}

int ftrace_filter_new(const char *text, const struct ftrace_events *events,
		      struct ftrace_filter **ret, struct err *e)
{
	struct ftrace_filter *f = mem_alloc(sizeof(*f));
	const char *colon = strchr(text, ':');
	int r = parse_events(f, text, colon ? (size_t)(colon - text) : strlen(text), events, e);

	if (r == 0 && colon) {
		struct parser p = { .f = f, .text = text, .p = colon + 1, .e = e };

		f->root = parse_or(&p);
		skip(&p);
		if (!p.failed && *p.p)
			fail(&p, "this does not belong here");
		r = p.failed ? -EINVAL : events->type ? check_fields(&p, events) : 0;
	}
	if (r < 0) {
		ftrace_filter_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void ftrace_filter_free(struct ftrace_filter *f)
{
	if (!f)
		return;
	vec_each (&f->nodes, n)
		if ((*n)->has_regex)
			regfree(&(*n)->regex);
	vec_each (&f->events, r)
		regfree(r);
	vec_free(&f->nodes);
	vec_free(&f->events);
	vec_free(&f->paired);
	map_free(&f->chosen);
	arena_free(&f->arena);
	free(f);
}

/* --- asking --- */

static const struct field *field_of(struct node *n, const struct ftrace_subject *s)
{
	if (n->type != s->type) {
		n->type = s->type;
		n->field = type_field(s->type, n->text);
	}
	return n->field;
}

/* False when there is no such number. */
static bool number(struct node *n, const struct ftrace_subject *s, uint64_t *ret)
{
	const struct field *f;
	uint64_t a, b;
	int64_t v;

	switch (n->kind) {
	case NODE_NUMBER: *ret = n->number; return true;
	case NODE_CPU: *ret = s->cpu; return true;
	case NODE_TIME: *ret = s->time; return true;
	case NODE_FIELD:
		f = field_of(n, s);
		if (!f || !field_int(f, s->data, s->size, &v))
			return false;
		*ret = (uint64_t)v;
		return true;
	case NODE_ARITH:
		if (!number(n->a, s, &a) || !number(n->b, s, &b))
			return false;
		switch (n->op[0]) {
		case '+': *ret = a + b; return true;
		case '-': *ret = a - b; return true;
		case '*': *ret = a * b; return true;
		case '/': *ret = b ? a / b : 0; return b != 0;
		case '%': *ret = b ? a % b : 0; return b != 0;
		case '&': *ret = a & b; return true;
		case '|': *ret = a | b; return true;
		case '^': *ret = a ^ b; return true;
		case '<': *ret = a << (b & 63); return true;
		default: *ret = a >> (b & 63); return true;
		}
	default: return false;
	}
}

static bool string(struct node *n, const struct ftrace_subject *s, const char **ret, size_t *len)
{
	const struct field *f;

	switch (n->kind) {
	case NODE_COMM:
		*ret = s->comm;
		*len = strlen(s->comm);
		return true;
	case NODE_TEXT:
		*ret = n->text;
		*len = strlen(n->text);
		return true;
	case NODE_FIELD: f = field_of(n, s); return f && field_str(f, s->data, s->size, ret, len);
	default: return false;
	}
}

/* Addresses are large, and not below nothing. */
static bool is_unsigned(const struct node *n)
{
	return n->kind == NODE_FIELD && n->field && !n->field->is_signed;
}

static bool compare(const struct node *n, const struct ftrace_subject *s)
{
	const char *x, *y;
	size_t xn, yn;
	uint64_t a, b;
	int sign;

	if (n->b->kind == NODE_TEXT || n->a->kind == NODE_COMM) {
		bool equal;

		if (!string(n->a, s, &x, &xn))
			return false;
		if (!string(n->b, s, &y, &yn))
			return false;
		equal = xn == yn && memcmp(x, y, xn) == 0;
		return n->op[0] == '=' ? equal : n->op[0] == '!' && !equal;
	}
	if (!number(n->a, s, &a) || !number(n->b, s, &b))
		return false;
	sign = a < b ? -1 : a > b;
	if (((int64_t)a < 0 && !is_unsigned(n->a)) || ((int64_t)b < 0 && !is_unsigned(n->b)))
		sign = (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
	switch (n->op[0]) {
	case '=': return sign == 0;
	case '!': return sign != 0;
	case '<': return n->op[1] ? sign <= 0 : sign < 0;
	default: return n->op[1] ? sign >= 0 : sign > 0;
	}
}

static bool holds(struct node *n, const struct ftrace_subject *s)
{
	AUTO_FREE char *copy = NULL;
	const char *text;
	uint64_t v;
	size_t len;

	switch (n->kind) {
	case NODE_NOT: return !holds(n->a, s);
	case NODE_AND: return holds(n->a, s) && holds(n->b, s);
	case NODE_OR: return holds(n->a, s) || holds(n->b, s);
	case NODE_COMPARE: return compare(n, s);
	case NODE_MATCH:
		if (!string(n->a, s, &text, &len))
			return false;
		copy = mem_strndup(text, len);
		return (regexec(&n->regex, copy, 0, NULL, 0) == 0) == (n->op[0] == '=');
	default: return number(n, s, &v) && v;
	}
}

enum ftrace_match ftrace_filter_match(struct ftrace_filter *f, const struct ftrace_subject *s)
{
	uint64_t *at = map_at(&f->chosen, (uintptr_t)s->type);

	if (!*at) {
		*at = 1;
		for (size_t i = 0; i < f->paired.n; i++)
			if (event_chosen(f, i, s->type->system, s->type->event))
				*at = 2;
	}
	if (*at == 1)
		return FTRACE_NOEXIST;
	return !f->root || holds(f->root, s) ? FTRACE_MATCH : FTRACE_MISS;
}
