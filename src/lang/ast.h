/* SPDX-License-Identifier: MIT */
/* The tree a program is parsed into, and what the checker writes onto it. */
#pragma once

#include "lang/lang.h"
#include "lang/parse/lex.h"

enum node_kind {
	N_INT,
	N_STR,
	N_PARAM, /* $1, or $# with v == 0 */
	N_VAR,
	N_MAP,	 /* list: keys; n == 0: none */
	N_IDENT, /* builtin, enumerator */
	N_CALL,	 /* s: function */
	N_BIN,	 /* op: enum tok */
	N_UN,
	N_TERN,
	N_FIELD, /* a.s (arrow: a->s), also tuple.0 */
	N_INDEX,
	N_CAST, /* ctype, a */
	N_TUPLE,
	N_SIZEOF, /* ctype or a */
	N_OFFSETOF,
	N_ASSIGN, /* a = b, op: '=' or the operator of a compound */
	N_INCDEC, /* op, v: 1 before, 0 after */
	N_DO,	  /* statements in list, then the value of a (NULL: none) */
	/* statements */
	N_EXPR,
	N_IF,
	N_WHILE,
	N_UNROLL,
	N_FOR_MAP,
	N_FOR_RANGE,
	N_BREAK,
	N_CONTINUE,
	N_RETURN,
	N_LET,
	N_BLOCK, /* v: the last statement, an expression, has no ';' behind it */
};

struct lvar;

/* A type as written: "struct foo **", "uint8[4]". */
struct ctype {
	const char *name; /* "struct foo", "uint32", "pid_t" */
	unsigned stars;
	uint32_t array; /* 0: none */
	bool is_array;
	uint32_t pos, len;
};

struct lang_function;

struct node {
	enum node_kind kind;
	uint32_t pos, len;
	int op;
	bool arrow;
	int64_t v;
	bool is_unsigned; /* N_INT: does not fit into int64 */
	const char *s;
	size_t slen;
	struct node *a, *b, *c;
	struct node **list;
	size_t n;
	struct ctype *ctype;
	/* written by the checker */
	const struct ltype *type;
	struct lvar *var;
	int map;			  /* index; -1 none */
	int id;				  /* builtin or function */
	const struct lang_function *func; /* of a call */
	int action;
	const struct lfield *field;
	uint32_t offset;
	const struct ltype *extra; /* resolved ctype, or a function's second type */
	bool folded;		   /* v is its value */
};

struct lvar {
	const char *name;
	const struct ltype *type;
	const struct ltype *narrow; /* declared as this short integer type; else NULL */
	uint32_t pos;
	unsigned gen;	       /* of the checker, when its type was found */
	struct node *scope;    /* the block it belongs to */
	bool used_in_callback; /* lives in memory that loops' functions can reach */
	/* the generator's */
	int round; /* the loop that last hid its value from the verifier */
	int reg;
	int32_t mem;
	int where;
	unsigned loop_depth;
};

struct probe_block {
	struct lang_point *pattern; /* as written */
	size_t n_patterns;
	struct node *pred; /* NULL: none */
	struct node *body;
	uint32_t pos, len;
	bool holed; /* statements with mistakes have been left out */
};

struct cfield_def {
	const char *name;
	struct ctype type;
	uint32_t bits;
	bool is_bits;
	struct crecord_def *inner;
	uint32_t aligned; /* at least so; 0: as its type is */
};
struct crecord_def {
	const char *name; /* "struct foo" */
	bool is_union, packed;
	bool from_header;
	uint32_t aligned;
	const char *why; /* it is not understood; NULL: it is */
	VEC(struct cfield_def) fields;
	uint32_t pos, len;
};
struct ctypedef {
	const char *name;
	struct ctype type;
	bool busy; /* being looked at */
};
struct cenum {
	const char *name; /* "enum foo" */
	size_t first, n;  /* its values among the constants */
};
struct cconst {
	const char *name;
	int64_t value;
};

struct macro {
	const char *name;
	struct node **param; /* N_VAR or N_MAP */
	size_t n_params;
	struct node *body;
};

struct ast {
	VEC(struct probe_block) blocks;
	VEC(struct crecord_def *) records;
	VEC(struct ctypedef) typedefs;
	unsigned n_headers; /* read so far */
	unsigned n_anonymous;
	VEC(struct cconst) consts;
	VEC(struct cenum) enums;
	VEC(struct macro) macros;
	bool undefined;	 /* an unknown name may be of a definition not understood */
	lex_has_fn *has; /* #if has(...); given by the caller */
	void *has_ctx;
};

/* -EINVAL with mistakes, which are left out of the tree: the rest of it can be checked. */
int parse_program(const struct lang_source *src, struct lang_config *config, struct arena *a,
		  struct ast *ret, struct lang_diags *d);

/* Replaces uses of macros by copies of their bodies. */
void macro_expand(struct ast *t, struct arena *a, struct lang_diags *d);

/* The parts of a node, which may be NULL: a, b, c, and those of the list. */
static inline size_t node_parts(const struct node *n)
{
	return 3 + n->n;
}
static inline struct node *node_part(const struct node *n, size_t i)
{
	return i >= 3 ? n->list[i - 3] : i == 0 ? n->a : i == 1 ? n->b : n->c;
}
/* The first node of a tree, from the outside in, that a test holds of; NULL: none. */
typedef bool node_test_fn(const struct node *n, const void *ctx);
const struct node *node_find(const struct node *n, node_test_fn *test, const void *ctx);
/* The first use of a map. */
const struct node *node_find_map(const struct node *n, int map);

void ast_dump(const struct ast *t, struct strbuf *b);
