/* SPDX-License-Identifier: MIT */
/* Lines of a text that is in memory, for the readers of such texts. */
#ifndef KYMO_STORE_TEXT_TEXT_LINE_H
#define KYMO_STORE_TEXT_TEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_LINE_EXCERPT 64

/* Cut the next line off *data; false at the end. Blanks and a '\r' at its end are left out. */
bool text_line_next(const char **data, const char *end, const char **s, size_t *n);

/* The beginning of a line as it can be shown in a message. */
const char *text_line_excerpt(const char *s, size_t n, char buf[TEXT_LINE_EXCERPT]);

static inline bool text_is_space(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

#endif
