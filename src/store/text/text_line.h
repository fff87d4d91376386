/* SPDX-License-Identifier: MIT */
/* Texts that are in memory, as their readers need them: parts, and lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A part of a text, not NUL-terminated; n is 0, or s NULL, where there is none. */
struct text_part {
	const char *s;
	size_t n;
};
bool text_part_is(struct text_part t, const char *s);

#define TEXT_LINE_EXCERPT 64

/* Cut the next line off *data; false at the end. Blanks and a '\r' at its end are left out. */
bool text_line_next(const char **data, const char *end, const char **s, size_t *n);

/* The beginning of a line as it can be shown in a message. */
const char *text_line_excerpt(const char *s, size_t n, char buf[TEXT_LINE_EXCERPT]);

/* "NAME:LINE: why". */
__attribute__((format(printf, 5, 6))) int text_refuse(struct err *e, int code, const char *name,
						      uint64_t line, const char *fmt, ...);

static inline bool text_is_space(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
