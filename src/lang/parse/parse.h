/* SPDX-License-Identifier: MIT */
/* What the files of the parser share. */
#pragma once

#include "lang/ast.h"

struct parser {
	struct lexer lex;
	struct token tok; /* the one looked at */
	struct token prev;
	struct arena *arena;
	struct lang_diags *d;
	struct ast *ast;
	struct lang_config *config;
	const struct lang_source *src;
	bool in_predicate;
	bool failed; /* in this statement: say no more until the next */
	unsigned depth, loops;
	unsigned headers;   /* that are being read, one in another */
	const char *header; /* the innermost one's path; NULL: the program itself */
};

#define PARSE_DEPTH 200
/* One level deeper, which the caller comes back from (p->depth--); false, and said, when that is
 * too deep: "this expression is", "blocks are". */
bool parse_deeper(struct parser *p, const char *what);
/* A name, if there is one; else "". */
const char *parse_name(struct parser *p);

void parse_advance(struct parser *p);
bool parse_accept(struct parser *p, int kind);
bool parse_expect(struct parser *p, int kind, const char *what);
bool parse_is(const struct parser *p, const char *word);
bool parse_accept_word(struct parser *p, const char *word);
__attribute__((format(printf, 2, 3))) void parse_fail(struct parser *p, const char *fmt, ...);

void parse_skip_to(struct parser *p, int kind); /* and over it, in the same braces */
/* struct x { ... };  typedef ...; */
void parse_definition(struct parser *p);
void parse_typedef(struct parser *p);
/* struct x [{ ... }]: its full name, NULL when it has neither a name nor a body. */
const char *parse_tag(struct parser *p);
/* What the command line includes; #include lines from here on. */
void parse_headers(struct parser *p);

struct node *parse_node(struct parser *p, enum node_kind kind, uint32_t pos);
struct node *parse_expr(struct parser *p);
struct node *parse_primary(struct parser *p);
/* Operators that bind at least so tightly (1: all but ?:). */
struct node *parse_binary(struct parser *p, int min);
void parse_end_at(struct parser *p, struct node *n); /* behind what was read last */
void parse_add(struct parser *p, struct node *n, struct node *item);
void parse_array(struct parser *p, struct ctype *t); /* [N] behind a type, if it is there */
struct node *parse_block(struct parser *p);	     /* { ... } */
struct node *parse_rounds(struct parser *p);	     /* that of a loop */
/* A type, when the tokens are one; NULL and nothing consumed otherwise. */
struct ctype *parse_type(struct parser *p);
/* C's integers: int, unsigned long, __u32, uint8_t. */
struct parse_int {
	const char *name;
	unsigned size;
	bool is_signed;
};
/* a OP b; false where it has no value, or OP no meaning. */
bool parse_fold(int op, int64_t a, int64_t b, bool is_signed, int64_t *ret);
bool parse_int_type(const char *name, struct parse_int *ret);

bool parse_point(struct parser *p, struct lang_point *ret);
/* An uninterrupted text such as "tracepoint:sched:*" into its parts. */
bool lang_point_parse(const char *text, struct arena *a, struct lang_point *ret, struct err *e);
