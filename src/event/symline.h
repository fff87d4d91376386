/* SPDX-License-Identifier: MIT */
/*
 * Lines of /proc/kallsyms and of its copies, one at a time:
 *
 *	ffffffff81000000 T _text
 *	ffffffffc0000000 t init	[module]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed before the first line; names are in the text and do not end. */
struct symline {
	uint64_t addr;
	char type;
	const char *name, *module; /* module is NULL when there is none */
	size_t name_n, module_n;
	/* addresses mostly begin like the one before: what that was */
	uint64_t high;
	char high_text[8];
};

/* kymo's own: nothing has a name from there on, in recordings (store/perfdata/kallsyms.h). */
#define SYMLINE_END '-'

/* One line, up to its newline; false: it is none. */
bool symline_parse(struct symline *l, const char *p, const char *end);
/* The next good line from *at on, which is put behind it; false when there is none. */
bool symline_next(struct symline *l, const char **at, const char *end);
/* Only the address; 0 when there is none. */
uint64_t symline_addr(const char *p, const char *end);
/* Does it name code or data? perf's choice: other symbols neither name nor end a function. */
bool symline_is_named(const struct symline *l);
