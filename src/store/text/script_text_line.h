/* SPDX-License-Identifier: MIT */
/* One line of perf script's text: what script_text.c is made of. */
#ifndef KYMO_STORE_TEXT_SCRIPT_TEXT_LINE_H
#define KYMO_STORE_TEXT_SCRIPT_TEXT_LINE_H

#include "store/text/script_text.h"

/*
 * Who, when and what, with what stands behind it in *rest. -ERANGE when a number is
 * too large. With and without a time: the first place where all fits is taken.
 */
int script_text_header(const char *s, size_t n, struct script_sample *ret, struct text_part *rest);

/* An address, and what is behind it; blanks may stand before it. */
bool script_text_frame(const char *s, size_t n, struct script_frame *ret);

/* "file.c:12", as perf script -F +srcline puts it below a frame. */
bool script_text_is_position(const char *s, size_t n);

#endif
