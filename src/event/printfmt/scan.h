/* SPDX-License-Identifier: MIT */
/* The words of print formats, and the state of their parser. */
#ifndef KYMO_EVENT_PRINTFMT_SCAN_H
#define KYMO_EVENT_PRINTFMT_SCAN_H

#include "event/printfmt/impl.h"

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

/* Remember what is wrong, the first time; answers NULL. */
struct node *scan_fail(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* p->now becomes the next word. */
void scan_next(struct parser *p);
bool scan_is_op(const struct parser *p, unsigned op);
bool scan_is_name(const struct parser *p, const char *name);
/* Past this operator, which must come here. */
bool scan_take(struct parser *p, unsigned op);
/* Adjacent literals are one; escapes as in C. */
const char *scan_take_string(struct parser *p);

/* event/printfmt/parse.c: an expression of C; NULL when it is none. */
struct node *printfmt_expression(struct parser *p);

#endif
