/* SPDX-License-Identifier: MIT */
/*
 * A source whose samples carry copies of the stack (--call-graph dwarf), seen as
 * one whose samples carry call chains: each copy is unwound as it is read. So
 * every view works on such recordings as on any other.
 */
#pragma once

#include "event/trace.h"
#include "sym/find/find.h"
#include "sym/unwind/unwind.h"

/* Do any of its events have copies? */
bool unwound_needed(const struct source *s);

/*
 * The source that unwinds; it owns s and closes it. max_frames 0: 1024. o is
 * copied. The trace is s's own.
 */
struct source *unwound_new(struct source *s, const struct find_opts *o, unsigned max_frames);
