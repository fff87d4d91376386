/* SPDX-License-Identifier: MIT */
/* The functions of the language: one row a function, which checker and generator go by. */
#pragma once

#include "lang/ast.h"

/* Functions that others ask for; all else of a function is in its row. */
enum func {
	F_NONE,
	F_CGROUPID,
	F_CLEAR,
	F_DEBUGF,
	F_DELETE,
	F_HISTOGRAM,
	F_LEN,
	F_PERCPU_KADDR,
	F_PRINT,
	F_PRINTF,
	F_STACKS,
	F_STRCONTAINS,
	F_STRMATCH,
	F_STRNCMP,
	F_TABLE,
	F_UADDR,
};

struct checker;
struct gen;
struct ir_val;
struct place;
typedef const struct ltype *lang_check_fn(struct checker *c, struct node *n);
typedef void lang_statement_fn(struct gen *g, struct node *n);
typedef struct ir_val lang_word_fn(struct gen *g, struct node *n);
typedef void lang_into_fn(struct gen *g, struct node *n, struct place p, const struct ltype *to);

#define LANG_ARGS_ANY 64

struct lang_function {
	const char *name;
	uint8_t min, max; /* arguments */
	enum func id;
	int how;	/* of functions that share code: enum lang_act, lang_names or lt_space */
	bool is_unsafe; /* wants --unsafe */
	/* A letter an argument, which it must be: 'n' number, 't' text in quotes. NULL: check sees
	 * to them. */
	const char *args;
	lang_check_fn *check; /* the type of a call; NULL: what gives says, of so many bytes */
	enum lt_kind gives;
	uint32_t size;
	/* The code of a call: one of these. None: the value is the first argument's. */
	lang_statement_fn *statement; /* it has no value */
	lang_word_fn *word;	      /* the value, or where it is */
	lang_into_fn *into;	      /* the value, made in place */
};

extern const struct lang_function lang_functions[];
extern const size_t lang_functions_n;
/* NULL: there is no such function. */
const struct lang_function *lang_function_find(const char *name);

/* What the rows name: checks (lang/check/), and code (lang/gen/). */
lang_check_fn check_stack, check_str, check_buf, check_ntop, check_agg, check_keys_of, check_signal,
	check_getopt, check_pton, check_address, check_nsecs, check_printf, check_print,
	check_table, check_in_map, check_histogram, check_stacks, check_file_number, check_strings,
	check_path, check_skb, check_strftime, check_clear, check_named_number, check_pointer,
	check_macaddr, check_bswap, check_override, check_len;
lang_statement_fn gen_assert, gen_clear, gen_exit, gen_histogram, gen_join, gen_override, gen_print,
	gen_printf, gen_signal, gen_stacks, gen_table, gen_time;
lang_word_fn gen_bswap, gen_delete, gen_find, gen_found, gen_has_key, gen_in_map, gen_len,
	gen_match, gen_nsecs, gen_percpu_kaddr, gen_pton, gen_reg, gen_skboutput, gen_strftime,
	gen_uaddr;
lang_into_fn gen_buf, gen_macaddr, gen_ntop, gen_path, gen_str, gen_usym;
