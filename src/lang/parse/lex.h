/* SPDX-License-Identifier: MIT */
/* Words of a program. #define is done here, so that positions stay those of the text. */
#pragma once

#include "base/map.h"
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
/* #include at a place of the text; quoted: "x.h", not <x.h>. */
typedef void lex_include_fn(void *ctx, const char *name, bool quoted, uint32_t pos, uint32_t len);

/* A branch of an #if. */
enum {
	LEX_NOT_YET, /* nor was one before it */
	LEX_TAKEN,
	LEX_DONE,
};

struct lexer {
	const char *text;
	uint32_t n, at;
	struct arena *arena;
	struct lang_diags *d;
	VEC(struct define) defines;
	struct map by_name;	   /* hash of a name to 1 + its define */
	VEC(struct token) pending; /* of a #define that is being used, last first */
	VEC(uint8_t) conds;
	bool line_start;
	unsigned expanded; /* uses of #define so far */
	bool swallowed;	   /* a text or comment without an end */
	bool undefined;	   /* a line with # was not understood */
	lex_has_fn *has;   /* NULL: nothing is there */
	void *has_ctx;
	lex_include_fn *include; /* NULL: such lines mean nothing */
	void *include_ctx;
	/* A header: all its words stand where it was included. */
	bool pinned;
	uint32_t pin, pin_len;
};

void lex_init(struct lexer *l, const char *text, uint32_t n, struct arena *a, struct lang_diags *d);
void lex_free(struct lexer *l);
struct token lex_next(struct lexer *l);
static inline int lex_at(const struct lexer *l, uint32_t ahead)
{
	return l->at + ahead < l->n ? (unsigned char)l->text[l->at + ahead] : 0;
}
bool lex_is_word(int c); /* a letter of a name */
/* For preprocess.c, which does the lines with #. */
struct token lex_raw(struct lexer *l);
void lex_preprocess(struct lexer *l);
bool lex_skipping(const struct lexer *l);
struct define *lex_define(const struct lexer *l, const char *name, size_t n);
/* The name of a token for messages. */
const char *lex_name(int kind, char *buf, size_t size);
