/* SPDX-License-Identifier: MIT */
/*
 * Folded text into stacks.
 *
 * The annotations of stackcollapse (_[k] kernel, _[i] inlined, _[j] JIT) become
 * the frames' kinds and leave the names; "[libc.so.6]" is code of that file
 * without a name. Whether the first frame is a process cannot be known from the
 * text, so it stays a frame.
 */
#ifndef KYMO_CALC_READ_UNFOLD_H
#define KYMO_CALC_READ_UNFOLD_H

#include "calc/stacks/stacks.h"
#include "store/text/folded.h"

/*
 * Adds to side[0], and for a comparison (info->two) the second counts to
 * side[1]. On failure what was added so far stays; stacks_free() both.
 */
int unfold_text(const char *name, const char *data, size_t n, struct stacks side[2],
		struct folded_info *info, struct err *e);

#endif
