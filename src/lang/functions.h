/* SPDX-License-Identifier: MIT */
/* The functions of the language: one row a function, which checker and generator go by. */
#ifndef KYMO_LANG_FUNCTIONS_H
#define KYMO_LANG_FUNCTIONS_H

#include "lang/ast.h"

enum func {
	F_NONE,
	F_BSWAP,
	F_BUF,
	F_CAT,
	F_CGROUPID,
	F_CGROUP_PATH,
	F_CLEAR,
	F_DEBUGF,
	F_DELETE,
	F_EXIT,
	F_IN_MAP,
	F_JOIN,
	F_KADDR,
	F_KPTR,
	F_KSYM,
	F_KSTACK,
	F_MACADDR,
	F_NTOP,
	F_OVERRIDE,
	F_PATH,
	F_PRINT,
	F_TABLE,
	F_HISTOGRAM,
	F_STACKS,
	F_PRINTF,
	F_PTON,
	F_REG,
	F_SIGNAL,
	F_SKBOUTPUT,
	F_STR,
	F_SYSCALL_NAME,
	F_SIGNAL_NAME,
	F_CAP_NAME,
	F_DISK_NAME,
	F_FILE_NUMBER,
	F_STRCONTAINS,
	F_STRMATCH,
	F_STRERROR,
	F_STRFTIME,
	F_STRNCMP,
	F_SYSTEM,
	F_TIME,
	F_UADDR,
	F_UPTR,
	F_USTACK,
	F_USYM,
	F_ZERO,
	F_NSECS,
	F_LEN,
	F_HAS_KEY,
	F_PERCPU_KADDR,
	F_GETOPT,
	F_ERRORF,
	F_ASSERT,
	F_FIND,
	F_STRSTR,
	F_COUNT,
	F_SUM,
	F_MIN,
	F_MAX,
	F_AVG,
	F_STATS,
	F_HIST,
	F_LHIST,
	F_TSERIES,
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
	enum func id;
	uint8_t min, max; /* arguments */
	bool is_unsafe;	  /* wants --unsafe */
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

#endif
