/* SPDX-License-Identifier: MIT */
/* Annotated functions as text, in the layout of perf annotate --stdio. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "calc/rows/annotate.h"
#include "sym/disasm/srctext.h"

struct annotate_style {
	enum annotate_percent percent;
	enum { ANNOTATE_SHOW_PERCENT, ANNOTATE_SHOW_SAMPLES, ANNOTATE_SHOW_WEIGHT } column;
	bool lines;	 /* -l: source lines by share first, and at each instruction */
	bool full_paths; /* -P */
	bool no_source;
	bool raw; /* the bytes of instructions */
	bool arrows;
	bool ascii;	   /* no characters beyond ASCII */
	bool forced_group; /* events beside each other that did not count together */
	bool verbose;
	double percent_limit; /* instructions below it are left out; 0: none */
};

const char *annotate_percent_name(enum annotate_percent kind); /* "local period" */

void annotate_print(FILE *f, const struct annotate_style *s, const struct annotate *a,
		    struct srctext *src);

/* Which source lines to show above an instruction, given the one before it (NULL: none). */
struct annotate_source {
	const char *function; /* it begins here; NULL: still the same */
	bool inlined;
	uint32_t inlined_at_line; /* 0: not known */
	const char *inlined_at_file;
	const char *file;  /* NULL: no lines */
	uint32_t from, to; /* lines to show, both included; from 0: none */
};
/* seen: the highest line shown of each file so far; empty at the start. */
struct annotate_source annotate_source_at(const struct annotate *a, size_t insn, struct map *seen);

/* Tabs spread out, control characters made visible; into buf, which is returned. */
const char *annotate_clean(const char *text, size_t n, char *buf, size_t size);
