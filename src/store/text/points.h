/* SPDX-License-Identifier: MIT */
/*
 * Reading points: lines of a time, a value and, if there is one, a label.
 *
 *	158665.570607 120 sda
 *
 * Blanks, tabs or commas stand between them; blank lines and lines that begin
 * with # are skipped. The text is untrusted: what is no such line is refused
 * with its number.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct points_line {
	uint64_t line;
	double time, value; /* as written; not negative */
	const char *label;  /* not NUL-terminated */
	size_t label_n;
};

typedef int points_fn(void *ctx, const struct points_line *l, struct err *e);
int points_read(const char *name, const char *data, size_t n, points_fn *fn, void *ctx,
		struct err *e);
