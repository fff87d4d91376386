/* SPDX-License-Identifier: MIT */
/*
 * Untrusted text into XML and HTML.
 *
 * The result is text and nothing else: markup characters become entities,
 * control characters are shown as \x1b, and what is not UTF-8 as \xff.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/str.h"

/* How many bytes the UTF-8 character at s has, 0 when it is none (or a control character). */
size_t markup_char(const unsigned char *s, size_t left);

/* Text that can be shown: the escapes above, but no entities. */
void markup_clean(struct strbuf *b, const char *s, size_t n);

/* Inside an element or a quoted attribute. */
void markup_text(FILE *f, const char *s);
void markup_textn(FILE *f, const char *s, size_t n);
/* Inside <!-- -->. */
void markup_comment(FILE *f, const char *s);
