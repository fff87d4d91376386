/* SPDX-License-Identifier: MIT */
/* Types for every expression: what the files of the checker and the generator share. */
#pragma once

#include "lang/ast.h"
#include "lang/functions.h"

enum builtin {
	B_NONE,
	B_HELPER, /* what a helper of the kernel gives, v: or the upper or lower half of it */
	B_HELPER_HIGH,
	B_HELPER_LOW,
	B_ARGS,
	B_ARG, /* v: number */
	B_SARG,
	B_COMM,
	B_CPID,
	B_CTX,
	B_CURTASK,
	B_ELAPSED,
	B_FUNC,
	B_KSTACK,
	B_PID,
	B_PROBE,
	B_RETVAL,
	B_TID,
	B_USERNAME,
	B_USTACK,
	B_NCPUS,
	B_USERMODE,
	B_PROBETYPE,
};

struct checker {
	struct lang_program *p;
	const struct lang_env *env;
	struct ast *ast;
	const struct lang_source *src;
	struct lang_diags *d;
	struct ltypes *t;
	/* where we are */
	const struct lang_point *point;
	struct probe_block *block;
	struct lrecord *args; /* of the point; NULL: none or not asked for yet */
	bool args_asked;
	bool point_typed; /* types depend on the point, such as the length of its name */
	struct node *scope;
	VEC(struct lvar *) vars; /* of this block, innermost last */
	unsigned callback_depth; /* inside for loops */
	bool in_record;		 /* at the fields of one that the program defines */
	bool args_field;	 /* args stands before a field, not for all of them */
	bool agg_ok;		 /* an aggregation may stand here */
	bool void_ok;		 /* a function without a value may */
	bool changed, final;
	bool guess;	   /* what is computed of an unknown type is a number: @x = @x + 1 */
	bool partial;	   /* there are mistakes: what is not defined may be in what was left out */
	bool uses_point;   /* the block's meaning depends on which point it is */
	bool asks_probe;   /* the block only asks which point it is (probe) */
	bool func_by_name; /* in user space func is the probe's function, not an address */
	unsigned gen;	   /* counts points: variables' types are found anew for each */
	const struct ltype *i64, *u64, *none, *nothing, *boolean;
};

void check_init(struct checker *c, struct lang_program *p, const struct lang_env *env,
		struct ast *ast, const struct lang_source *src, struct lang_diags *d);
/* Check a block as it means for this point. */
void check_block(struct checker *c, struct probe_block *b, const struct lang_point *pt);
void check_free(struct checker *c);

/* 1 or 0 when a value does not depend on the event, else -1. */
int decide_truth(const struct node *n);
/* Does its predicate, by the options given, let no event through? Asked behind check_block(). */
bool decide_never(const struct probe_block *b);
/* #if has(text): is there such a probe, or "struct name.field"? */
bool decide_has(void *checker, const char *text);

const struct ltype *check_expr(struct checker *c, struct node *n);
const struct ltype *check_call(struct checker *c, struct node *n);
/* False, with an error, where there is no such function. */
bool check_function_known(struct checker *c, const struct node *n);
/* Of code whose probe is not known, so that nothing has a type: functions and names alone. */
void check_names_only(struct checker *c, struct node *n);
void check_stmt(struct checker *c, struct node *n);
/* Is the body of a while loop a function that the kernel calls? */
bool check_while_called(const struct lang_env *env);
/* Says that an operator is not for pointers. */
const struct ltype *check_no_pointer(struct checker *c, const struct node *n, int op);
/* A constant that headers define by a macro: AF_INET, ENOENT, SIGKILL. */
bool check_constant_name(const char *name, int64_t *value);
/* What arguments must be; what: the function, as it is named where they are not. */
bool check_number(struct checker *c, struct node *n, const char *what);
bool check_literal(struct checker *c, struct node *n, const char *what);
int64_t check_constant(struct checker *c, struct node *n, const char *what, int64_t min,
		       int64_t max);
bool check_whole_map(struct checker *c, struct node *n, const char *what);
const struct ltype *check_ident(struct checker *c, struct node *n);
/* $1 as the text it is, also of a number. */
void check_param_text(const struct checker *c, struct node *n);
const struct ltype *check_ctype(struct checker *c, const struct ctype *ct);
/* The enum that a constant of the program (ast->consts) belongs to; NULL: none. */
const struct ltype *check_enum_of(struct checker *c, size_t constant);
/* A type by its name alone; NULL: there is none. */
const struct ltype *check_named_type(struct checker *c, const char *name);
bool check_const(const struct node *n, int64_t *v);
void check_fill(struct checker *c, const struct ltype *t);
/* Also the records in it, of what will be shown. */
void check_fill_all(struct checker *c, const struct ltype *t, unsigned depth);
/* Map of this name, made when new; key: a tuple or NULL. */
int check_map(struct checker *c, const char *name);
/* The map in a node with its keys checked. */
void check_map_keys(struct checker *c, struct node *n);
/* A type that holds both; NULL when there is none. */
const struct ltype *check_merge(struct checker *c, const struct ltype *a, const struct ltype *b);
enum lt_space check_space(const struct checker *c);
const char *check_text(struct checker *c, const struct ltype *t); /* for messages */
struct lvar *check_new_var(struct checker *c, struct node *n, const struct ltype *t);
void check_assign_var(struct checker *c, struct node *n, const struct ltype *t, bool declare);
const struct ltype *check_var(struct checker *c, struct node *n);
const struct ltype *check_map_read(struct checker *c, struct node *n);
/* How a value is kept in keys, map values and tuples. */
const struct ltype *check_stored(struct checker *c, const struct ltype *t);
void check_assign_map(struct checker *c, struct node *n, const struct ltype *t);
/* Notes that stacks of this depth are wanted; a few frames of the tracing machinery come on top. */
void check_depth(struct checker *c, uint32_t depth);
const struct lrecord *check_args(struct checker *c);
void check_records(struct checker *c);
/* Adds a hint when the reason is that the kernel's types are not known. */
void check_no_types(struct checker *c);
__attribute__((format(printf, 3, 4))) const struct ltype *check_fail(struct checker *c,
								     const struct node *n,
								     const char *fmt, ...);
