/* SPDX-License-Identifier: MIT */
/* A list of abilities (kern/ability/ability.h) as a screen for people or as a table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "calc/table/table.h"
#include "kern/ability/ability.h"

enum abilities_which {
	ABILITIES_USUAL,
	ABILITIES_ALL,	   /* the details too */
	ABILITIES_FIXABLE, /* only what a command here would better */
};

/* Aligned columns, headings, colour where out takes it, and a last line that sums up. */
void abilities_text(FILE *out, const struct ability *list, size_t n, enum abilities_which which);

/* For programs, the details too: {id, group, state, value, meaning, fix, fixable}. */
void abilities_table(struct tables *ret, const struct ability *list, size_t n,
		     enum abilities_which which);
