/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "calc/read/ftrace_filter_impl.h"
#include "event/match.h"

/* --- events --- */

static int add_regex(struct ftrace_filter *f, const char *text, size_t n, struct err *e)
{
	regex_t r;

	if (!match_regex(&r, text, n))
		return err_set(e, EINVAL, "filter: '%.*s' is no regular expression", (int)n, text);
	vec_push(&f->events, r);
	return 0;
}

static bool event_chosen(const struct ftrace_filter *f, size_t i, const char *system,
			 const char *event)
{
	bool name = match_regex_hits(&f->events.data[i * 2 + 1], event);
	bool sys = match_regex_hits(&f->events.data[i * 2], system);

	return f->paired.data[i] ? name && sys : name || sys;
}

bool ftrace_filter_is_for(const struct ftrace_filter *f, const char *system, const char *event)
{
	for (size_t i = 0; i < f->paired.n; i++)
		if (event_chosen(f, i, system, event))
			return true;
	return false;
}

/* All events there are. */
struct ftrace_events {
	const struct ftrace_known *data;
	size_t n;
};

static bool any_event(const struct ftrace_filter *f, size_t i, const struct ftrace_events *ev)
{
	vec_each (ev, k)
		if (event_chosen(f, i, k->system, k->event))
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

static bool ftrace_filter_is_text(const struct field *f)
{
	return f->kind == FIELD_STRING || f->is_string;
}

/* Has any of the events the field? Also when that cannot be known. text: as a text. */
static bool is_field(const struct ftrace_filter *f, const struct ftrace_events *ev,
		     const char *name, bool text)
{
	bool any = false;

	vec_each (ev, k) {
		bool chosen = k->type && ftrace_filter_is_for(f, k->system, k->event);
		const struct field *field = chosen ? type_field(k->type, name) : NULL;

		if (field && (!text || ftrace_filter_is_text(field)))
			return true;
		any = any || chosen;
	}
	return !any;
}

static bool ftrace_filter_is_event(const struct ftrace_events *ev, const char *name)
{
	vec_each (ev, k)
		if (strcmp(k->event, name) == 0)
			return true;
	return false;
}

static int check_fields(struct filter_parser *p, const struct ftrace_events *ev)
{
	const struct ftrace_filter *f = p->f;

	/* next_comm == sh: what is no field is meant as text where one is compared with it */
	vec_each (&f->nodes, x) {
		struct filter_node *a = (*x)->a, *b = (*x)->b;

		if ((*x)->kind == NODE_COMPARE && a->kind == NODE_FIELD && b->kind == NODE_FIELD &&
		    !is_field(f, ev, b->text, false) && is_field(f, ev, a->text, true))
			b->kind = NODE_TEXT;
	}
	vec_each (&f->nodes, x) {
		if ((*x)->kind != NODE_FIELD || is_field(f, ev, (*x)->text, false))
			continue;
		p->p = (*x)->at;
		ftrace_filter_fail(p, "none of these events has such a field");
		if (ftrace_filter_is_event(ev, (*x)->text))
			return err_hint(p->e, "an event of a system is -F SYSTEM/EVENT");
		return err_hint(p->e, "kymo ftrace report --event EVENT shows its fields");
	}
	return 0;
}

int ftrace_filter_new(const char *text, const struct ftrace_known *known, size_t n, bool typed,
		      struct ftrace_filter **ret, struct err *e)
{
	const struct ftrace_events events = { known, n };
	struct ftrace_filter *f = mem_alloc(sizeof(*f));
	const char *colon = strchr(text, ':');
	int r = parse_events(f, text, colon ? (size_t)(colon - text) : strlen(text), &events, e);

	if (r == 0 && colon) {
		struct filter_parser p = { .f = f, .text = text, .p = colon + 1, .e = e };

		f->root = ftrace_filter_parse(&p);
		r = p.failed ? -EINVAL : typed ? check_fields(&p, &events) : 0;
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

struct subject {
	const struct event_type *type;
	const struct event *ev;
	ftrace_comm_fn *comm;
	void *ctx;
};

static const struct field *ftrace_filter_field_of(struct filter_node *n, const struct subject *s)
{
	if (n->type != s->type) {
		n->type = s->type;
		n->field = type_field(s->type, n->text);
	}
	return n->field;
}

/* False when there is no such number. */
static bool ftrace_filter_number(struct filter_node *n, const struct subject *s, uint64_t *ret)
{
	const struct field *f;
	uint64_t a, b;
	int64_t v;

	switch (n->kind) {
	case NODE_NUMBER: *ret = n->number; return true;
	case NODE_CPU: *ret = s->ev->cpu; return true;
	case NODE_TIME: *ret = s->ev->time; return true;
	case NODE_FIELD:
		f = ftrace_filter_field_of(n, s);
		if (!f || !field_int(f, s->ev->raw, s->ev->raw_size, &v))
			return false;
		*ret = (uint64_t)v;
		return true;
	case NODE_ARITH:
		if (!ftrace_filter_number(n->a, s, &a) || !ftrace_filter_number(n->b, s, &b))
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

static bool ftrace_filter_string(struct filter_node *n, const struct subject *s, const char **ret,
				 size_t *len)
{
	const struct field *f;

	switch (n->kind) {
	case NODE_COMM:
		*ret = s->comm(s->ctx, s->ev->tid);
		*len = strlen(*ret);
		return true;
	case NODE_TEXT:
		*ret = n->text;
		*len = strlen(n->text);
		return true;
	case NODE_FIELD:
		f = ftrace_filter_field_of(n, s);
		return f && field_str(f, s->ev->raw, s->ev->raw_size, ret, len);
	default: return false;
	}
}

/* Addresses are large, and not below nothing. */
static bool is_unsigned(const struct filter_node *n)
{
	return n->kind == NODE_FIELD && n->field && !n->field->is_signed;
}

static bool ftrace_filter_compare(const struct filter_node *n, const struct subject *s)
{
	const char *x, *y;
	size_t xn, yn;
	uint64_t a, b;
	int sign;

	if (n->b->kind == NODE_TEXT || n->a->kind == NODE_COMM) {
		bool equal;

		if (!ftrace_filter_string(n->a, s, &x, &xn))
			return false;
		if (!ftrace_filter_string(n->b, s, &y, &yn))
			return false;
		equal = xn == yn && memcmp(x, y, xn) == 0;
		return n->op[0] == '=' ? equal : n->op[0] == '!' && !equal;
	}
	if (!ftrace_filter_number(n->a, s, &a) || !ftrace_filter_number(n->b, s, &b))
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

static bool holds(struct filter_node *n, const struct subject *s)
{
	AUTO_FREE char *copy = NULL;
	const char *text;
	uint64_t v;
	size_t len;

	switch (n->kind) {
	case NODE_NOT: return !holds(n->a, s);
	case NODE_AND: return holds(n->a, s) && holds(n->b, s);
	case NODE_OR: return holds(n->a, s) || holds(n->b, s);
	case NODE_COMPARE: return ftrace_filter_compare(n, s);
	case NODE_MATCH:
		if (!ftrace_filter_string(n->a, s, &text, &len))
			return false;
		copy = mem_strndup(text, len);
		return (regexec(&n->regex, copy, 0, NULL, 0) == 0) == (n->op[0] == '=');
	default: return ftrace_filter_number(n, s, &v) && v;
	}
}

bool ftrace_filter_match(struct ftrace_filter *f, const struct event_type *t,
			 const struct event *ev, ftrace_comm_fn *comm, void *ctx)
{
	const struct subject s = { t, ev, comm, ctx };
	uint64_t *at = map_at(&f->chosen, (uintptr_t)t);

	if (!*at)
		*at = ftrace_filter_is_for(f, t->system, t->event) ? 2 : 1;
	return *at == 2 && (!f->root || holds(f->root, &s));
}
