/* SPDX-License-Identifier: MIT */
/*
 * A filter as it is for one event, in trace-cmd's words: a comparison with a field that
 * the event has not is FALSE, and what that decides is left out.
 */
#include <inttypes.h>

#include "calc/read/ftrace_filter_impl.h"

enum truth { OPEN, FALSE, TRUE };

/* Can it be worked out for this event at all? As number() and string() of the asking. */
static bool known(const struct filter_node *n, const struct event_type *t, bool text)
{
	const struct field *f;

	switch (n->kind) {
	case NODE_FIELD:
		f = type_field(t, n->text);
		return f && (!text || f->kind == FIELD_STRING || f->is_string);
	case NODE_ARITH: return known(n->a, t, false) && known(n->b, t, false);
	default: return true;
	}
}

static enum truth truth(const struct filter_node *n, const struct event_type *t)
{
	enum truth a, b, decides;

	switch (n->kind) {
	case NODE_NOT: a = truth(n->a, t); return a == OPEN ? OPEN : a == TRUE ? FALSE : TRUE;
	case NODE_AND:
	case NODE_OR:
		a = truth(n->a, t);
		b = truth(n->b, t);
		decides = n->kind == NODE_AND ? FALSE : TRUE;
		if (a == decides || b == decides)
			return decides;
		return a == OPEN || b == OPEN ? OPEN : a;
	case NODE_COMPARE:
		if (n->b->kind == NODE_TEXT || n->a->kind == NODE_COMM)
			return known(n->a, t, true) && known(n->b, t, true) ? OPEN : FALSE;
		return known(n->a, t, false) && known(n->b, t, false) ? OPEN : FALSE;
	case NODE_MATCH: return known(n->a, t, true) ? OPEN : FALSE;
	case NODE_NUMBER: return n->number ? TRUE : FALSE;
	default: return known(n, t, false) ? OPEN : FALSE;
	}
}

static void ftrace_filter_text_put(const struct filter_node *n, const struct event_type *t,
				   struct strbuf *b);

static void put_part(const struct filter_node *n, const struct event_type *t, struct strbuf *b)
{
	strbuf_putc(b, '(');
	ftrace_filter_text_put(n, t, b);
	strbuf_putc(b, ')');
}

static void ftrace_filter_text_put_value(const struct filter_node *n, const struct event_type *t,
					 struct strbuf *b)
{
	switch (n->kind) {
	case NODE_NUMBER: strbuf_printf(b, "%" PRId64, (int64_t)n->number); break;
	case NODE_TEXT: strbuf_printf(b, "\"%s\"", n->text); break;
	case NODE_FIELD:
	case NODE_CPU:
	case NODE_COMM:
	case NODE_TIME: strbuf_puts(b, n->text); break;
	default: put_part(n, t, b);
	}
}

static void ftrace_filter_text_put(const struct filter_node *n, const struct event_type *t,
				   struct strbuf *b)
{
	enum truth all = truth(n, t);

	if (all != OPEN) {
		strbuf_puts(b, all == TRUE ? "TRUE" : "FALSE");
		return;
	}
	switch (n->kind) {
	case NODE_NOT:
		strbuf_putc(b, '!');
		put_part(n->a, t, b);
		break;
	case NODE_AND:
	case NODE_OR:
		/* what is decided does not matter, or all would be */
		if (truth(n->a, t) != OPEN) {
			ftrace_filter_text_put(n->b, t, b);
		} else if (truth(n->b, t) != OPEN) {
			ftrace_filter_text_put(n->a, t, b);
		} else {
			put_part(n->a, t, b);
			strbuf_puts(b, n->kind == NODE_AND ? " && " : " || ");
			put_part(n->b, t, b);
		}
		break;
	case NODE_COMPARE:
	case NODE_MATCH:
	case NODE_ARITH:
		ftrace_filter_text_put_value(n->a, t, b);
		strbuf_printf(b, " %s ", n->op);
		ftrace_filter_text_put_value(n->b, t, b);
		break;
	default: ftrace_filter_text_put_value(n, t, b);
	}
}

bool ftrace_filter_text(const struct ftrace_filter *f, const struct event_type *t, struct strbuf *b)
{
	if (!ftrace_filter_is_for(f, t->system, t->event))
		return false;
	if (f->root)
		ftrace_filter_text_put(f->root, t, b);
	else
		strbuf_puts(b, "TRUE");
	return true;
}
