/* SPDX-License-Identifier: MIT */
/* Words of a program. #define is done here, so that positions stay those of the text. */
#ifndef KYMO_LANG_LEX_H
#define KYMO_LANG_LEX_H

#include "lang/lang.h"

enum tok {
	T_END = 0,
	/* one-character tokens are their character */
	T_IDENT = 256,
	T_INT,
	T_STR,
	T_VAR,	 /* $name */
	T_PARAM, /* $1, $# */
	T_MAP,	 /* @name */
	T_ARROW,
	T_INC,
	T_DEC,
	T_SHL,
	T_SHR,
	T_LE,
	T_GE,
	T_EQ,
	T_NE,
	T_AND,
	T_OR,
	T_RANGE,
	T_ADD_EQ,
	T_SUB_EQ,
	T_MUL_EQ,
	T_DIV_EQ,
	T_MOD_EQ,
	T_AND_EQ,
	T_OR_EQ,
	T_XOR_EQ,
	T_SHL_EQ,
	T_SHR_EQ,
	T_BAD,
};

struct token {
	int kind;
	uint32_t pos, len;
	const char *s; /* identifier, variable or map name (with @), string bytes */
	size_t slen;
	uint64_t v;
};

struct define {
	const char *name;
	struct token *tok;
	size_t n;
	bool busy;
};

/* #if has(text) */
typedef bool lex_has_fn(void *ctx, const char *text);

struct lexer {
	const char *text;
	uint32_t n, at;
	struct arena *arena;
	struct lang_diags *d;
	VEC(struct define) defines;
	VEC(struct token) pending; /* of a #define that is being used, last first */
	VEC(bool) conds;	   /* #if: is the branch taken? */
	bool line_start;
	lex_has_fn *has; /* NULL: nothing is there */
	void *has_ctx;
};

void lex_init(struct lexer *l, const char *text, uint32_t n, struct arena *a, struct lang_diags *d);
void lex_free(struct lexer *l);
struct token lex_next(struct lexer *l);
/* Blanks, comments and preprocessor lines. */
void lex_skip(struct lexer *l);
/* The name of a token for messages. */
const char *lex_name(int kind, char *buf, size_t size);

#endif
