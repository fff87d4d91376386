/* SPDX-License-Identifier: MIT */
/* What the parser and the interpreter of print formats share. */
#pragma once

#include "event/printfmt/printfmt.h"

enum node_kind {
	NODE_NUMBER,
	NODE_TEXT,     /* a string literal */
	NODE_FIELD,    /* REC->name */
	NODE_DYNAMIC,  /* __get_dynamic_array(name): the bytes */
	NODE_LENGTH,   /* __get_dynamic_array_len(name) */
	NODE_STRING,   /* __get_str(name) */
	NODE_BITMASK,  /* __get_bitmask(name): as hex */
	NODE_CPUMASK,  /* __get_cpumask(name): as a list */
	NODE_FLAGS,    /* __print_flags(a, "|", list) */
	NODE_SYMBOLIC, /* __print_symbolic(a, list) */
	NODE_HEX,      /* __print_hex(a, b), with blanks between */
	NODE_HEX_STR,
	NODE_ARRAY, /* __print_array(a, b, c) */
	NODE_CAST,  /* (type)a */
	NODE_INDEX, /* a[b] */
	NODE_UNARY,
	NODE_BINARY,
	NODE_CHOICE, /* a ? b : c */
};

struct choice {
	uint64_t value;
	const char *text;
};

struct node {
	enum node_kind kind;
	unsigned op;	/* of UNARY and BINARY: one or two characters */
	uint64_t value; /* of NUMBER; of CAST and INDEX: bytes of the type */
	bool is_signed; /* CAST */
	bool is_pointer;
	const char *text; /* of TEXT, and the delimiter of FLAGS */
	const struct field *field;
	const struct node *a, *b, *c;
	const struct choice *choices;
	size_t n_choices;
};

#define OP2(a, b) ((unsigned)(a) << 8 | (unsigned)(b))

/* A piece of the output: text before, then one conversion. */
struct piece {
	const char *text;
	uint32_t text_n;
	char spec[32];		  /* "%08" "ll" "x" for snprintf; "" at the end */
	char conversion;	  /* d i u x X o c s p, 0 at the end */
	char extension;		  /* what follows %p: S s F f I i M m U ... */
	char sub[4];		  /* what follows that: "4", "6c", "Spc" */
	int8_t length;		  /* -2 hh, -1 h, 0, 1 l, 2 ll */
	bool plain;		  /* no flags, width or precision */
	const struct node *width; /* for '*' */
	const struct node *arg;
};

/* Two numbers and an operator; false for a division by zero or an unknown one. */
bool printfmt_operate(unsigned op, uint64_t a, uint64_t b, uint64_t *ret);

/* event/printfmt/run.c: the bytes of an array or text, which may stand elsewhere in the record. */
bool printfmt_bytes(const struct field *f, const void *raw, size_t size, const void **ret,
		    size_t *n);
/* One piece's conversion, without the text before it. */
void printfmt_piece(const struct printfmt *f, const struct piece *p, const struct printfmt_env *env,
		    const void *raw, size_t size, struct strbuf *b);
/* event/printfmt/addr.c: n bytes as the extension of %p says. */
void printfmt_address(const struct piece *p, const uint8_t *m, size_t n, struct strbuf *b);

struct printfmt {
	const struct event_type *type;
	unsigned long_size;
	struct piece *pieces;
	size_t n;
};

/* --- the words of print formats, and the state of their parser --- */

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

/* event/printfmt/parse.c. An expression of C; NULL when it is none. */
struct node *printfmt_expression(struct parser *p);
