/* SPDX-License-Identifier: MIT */
/*
 * Jumps of a listing as arrows in a few lanes beside it:
 *
 *	   ┌─jmp    114e
 *	┌─>│ mov    %eax,%ecx
 *	│  └>test   $0x1,%al
 *	└──┤je     1142
 *
 * Short jumps lie inside long ones; those for which no lane is left are not
 * drawn, so that a listing's width does not depend on its function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calc/rows/annotate.h"

#define ARROWS_LANES 6

struct arrow {
	uint32_t from, to; /* instructions */
	uint8_t lane;	   /* 0 is nearest to the listing */
};

struct arrows {
	VEC(struct arrow) arrow;
	unsigned lanes; /* that are used */
	uint64_t left_out;
	/* by instruction: the arrows that begin, end or pass there, a bit a lane */
	struct arrows_at {
		uint8_t from, to, through;
	} * at;
	size_t n;
};

void arrows_make(const struct annotate *a, unsigned max_lanes, struct arrows *ret);
void arrows_free(struct arrows *r);

/* Columns that arrows_draw fills: 0 when there are no arrows. */
unsigned arrows_width(const struct arrows *r);
/*
 * The arrows beside an instruction as UTF-8 (or ASCII) into buf, arrows_width() columns;
 * for a line above it (insn is the next one; source text) only what passes.
 */
#define ARROWS_TEXT ((ARROWS_LANES * 2 + 2) * 4)
const char *arrows_draw(const struct arrows *r, size_t insn, bool above, bool ascii,
			char buf[ARROWS_TEXT]);
