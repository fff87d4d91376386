/* SPDX-License-Identifier: MIT */
/*
 * Option tables: the one description of a command's options, from which come
 * parsing, --help, the man page's OPTIONS, completion and --introspect.
 *
 * A command declares `struct args` and a table whose entries name its fields:
 *
 *	static const struct opt opts[] = {
 *		OPT_FLAG('a', "all-cpus", all, "count on all CPUs"),
 *		OPT_STR('o', "output", "FILE", output, "write to FILE"),
 *		OPT_END,
 *	};
 *
 * Parsing follows perf and git: -abc clusters, -F99 and -F 99, --name=V and
 * --name V, unique prefixes of long names, --no-NAME to undo, -- ends options.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum opt_kind {
	OPT_KIND_END,
	OPT_KIND_HEAD,	/* a heading in --help */
	OPT_KIND_FLAG,	/* bool */
	OPT_KIND_COUNT, /* int, one more each time */
	OPT_KIND_INT,	/* int */
	OPT_KIND_U64,	/* uint64_t */
	OPT_KIND_STR,	/* const char * */
	OPT_KIND_STRS,	/* struct vec_strs, one more each time */
	OPT_KIND_FN,	/* calls fn */
};

enum opt_arg {
	OPT_ARG_NONE,
	OPT_ARG_REQUIRED,
	OPT_ARG_OPTIONAL, /* only attached: -gX, --name=X */
	OPT_ARG_LAST,	  /* the next word, if there is one and it does not start with '-' */
	OPT_ARG_CHOICE,	  /* the next word when it is one of the choices (up to a comma) */
};

#define OPT_HIDDEN 1u /* parsed but not shown */
#define OPT_NONEG 2u  /* has no --no- form */
#define OPT_UNDO 4u   /* has one, though its function wants a value */

struct opt;
/*
 * value is NULL when none was given; unset is true for --no-NAME, with which one that wants a
 * value is only called when it has OPT_UNDO.
 */
typedef int opt_fn(const struct opt *o, const char *value, bool unset, void *args, struct err *e);

struct opt {
	enum opt_kind kind;
	enum opt_arg arg;
	char letter; /* 0: none */
	unsigned flags;
	const char *name; /* NULL: none */
	const char *meta; /* what the value is called in help */
	size_t field;
	opt_fn *fn;
	const char *help;
	/* for completion: "a|b|c", or @events @files @dirs @pids @cpus @commands @users @probes,
	 * @keys of report, @fields of script */
	const char *complete;
};

/* A command whose options are shared by several files names the struct otherwise before this. */
#ifndef OPT_ARGS
#	define OPT_ARGS struct args
#endif
#define OPT_FIELD_(f) offsetof(OPT_ARGS, f)
#define OPT_(...)           \
	{                   \
		__VA_ARGS__ \
	}
#define OPT_NAMED_(k, c, l, ...) OPT_(.kind = (k), .letter = (c), .name = (l), __VA_ARGS__)
#define OPT_HEAD(text) OPT_(.kind = OPT_KIND_HEAD, .help = (text))
#define OPT_FLAG(c, l, f, h) OPT_NAMED_(OPT_KIND_FLAG, c, l, .field = OPT_FIELD_(f), .help = (h))
#define OPT_COUNT(c, l, f, h) OPT_NAMED_(OPT_KIND_COUNT, c, l, .field = OPT_FIELD_(f), .help = (h))
#define OPT_VALUE_(k, c, l, m, f, h, comp)                                                \
	OPT_NAMED_(k, c, l, .arg = OPT_ARG_REQUIRED, .meta = (m), .field = OPT_FIELD_(f), \
		   .help = (h), .complete = (comp))
#define OPT_INT(c, l, m, f, h) OPT_VALUE_(OPT_KIND_INT, c, l, m, f, h, NULL)
#define OPT_U64(c, l, m, f, h) OPT_VALUE_(OPT_KIND_U64, c, l, m, f, h, NULL)
#define OPT_STR(c, l, m, f, h) OPT_VALUE_(OPT_KIND_STR, c, l, m, f, h, NULL)
#define OPT_STR_C(c, l, m, f, h, comp) OPT_VALUE_(OPT_KIND_STR, c, l, m, f, h, comp)
#define OPT_STRS(c, l, m, f, h) OPT_VALUE_(OPT_KIND_STRS, c, l, m, f, h, NULL)
#define OPT_STRS_C(c, l, m, f, h, comp) OPT_VALUE_(OPT_KIND_STRS, c, l, m, f, h, comp)
/* Callbacks: with a value, without, or with one that may be left out (a: enum opt_arg). */
#define OPT_FN(c, l, m, func, h) OPT_FN_C(c, l, m, OPT_ARG_REQUIRED, func, h, NULL)
#define OPT_FN0(c, l, func, h) OPT_NAMED_(OPT_KIND_FN, c, l, .fn = (func), .help = (h))
#define OPT_FN_C(c, l, m, a, func, h, comp)                                               \
	OPT_NAMED_(OPT_KIND_FN, c, l, .arg = (a), .meta = (m), .fn = (func), .help = (h), \
		   .complete = (comp))
/* With a value that --no-NAME takes back. */
#define OPT_FN_UNDO(c, l, m, func, h, comp)                                               \
	OPT_NAMED_(OPT_KIND_FN, c, l, .arg = OPT_ARG_REQUIRED, .meta = (m), .fn = (func), \
		   .help = (h), .complete = (comp), .flags = OPT_UNDO)
#define OPT_END OPT_(.kind = OPT_KIND_END)

#define OPT_STOP_AT_ARG \
	1u /* the first word that is no option ends parsing (commands that run a command) */

#define OPT_KEEP_DASHES \
	2u /* "--" stays among the words that are left (commands that take files or a command) */

/* Is there a --no- form of it? */
bool opt_can_undo(const struct opt *o);

/* What parsing does at the option of this long name: for who took it for another command. */
int opt_set_named(const struct opt *opts, const char *name, const char *value, bool unset,
		  void *args, struct err *e);

/*
 * Parse argv[1..argc-1] into args. On success returns how many words are left,
 * which stand from argv[1] on in their order. -EINVAL with a suggestion in e;
 * -ECANCELED for -h and --help, unless the table has them.
 */
int opt_parse(const struct opt *opts, unsigned flags, int argc, char **argv, void *args,
	      struct err *e);
