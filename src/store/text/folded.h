/* SPDX-License-Identifier: MIT */
/*
 * Reading folded stacks: one stack a line, root first, "a;b;c 42".
 *
 * With two numbers behind every stack ("a;b;c 40 42", difffolded's form) the
 * file is a comparison: before and after. Names may hold spaces; a semicolon in
 * a name is written \; (and a backslash that stands before one as \\). Blank
 * lines and lines that begin with # and have no number are skipped.
 *
 * The text is untrusted. What cannot be read truly is refused with its line
 * number: a stack without a number, a negative one, a NUL byte, more than
 * FOLDED_MAX_LINE bytes or FOLDED_MAX_DEPTH frames. Other control characters and
 * bytes that are not UTF-8 pass through: showing them safely is the view's work.
 */
#pragma once

#include "store/text/text_line.h"

#define FOLDED_MAX_LINE (16u << 20)
#define FOLDED_MAX_DEPTH 65536u

struct folded_stack {
	uint64_t line;		       /* from 1 */
	const struct text_part *frame; /* root first; holds until the callback returns */
	size_t n;
	int64_t count[2]; /* before and after of a comparison; otherwise only [0] */
};

struct folded_info {
	bool two;	    /* a comparison */
	uint64_t stacks;    /* lines that were stacks */
	uint64_t fractions; /* counts such as 2.5 that were rounded */
};

/* A non-zero answer stops the reading and is returned. */
typedef int folded_fn(void *ctx, const struct folded_stack *s, struct err *e);

/* name is for errors. info may be NULL; `two` is known before the first callback. */
int folded_read(const char *name, const char *data, size_t n, struct folded_info *info,
		folded_fn *fn, void *ctx, struct err *e);
