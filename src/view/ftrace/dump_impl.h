/* SPDX-License-Identifier: MIT */
/* What the parts of ftrace_dump() share. */
#pragma once

#include "base/vec.h"
#include "store/tracedat/abi.h"
#include "store/tracedat/raw.h"
#include "store/tracedat/tracedat.h"
#include "view/ftrace/dump.h"

/* A section that an option points to. */
struct pointed {
	uint16_t id;
	uint64_t at;
};

struct dump {
	const struct source *s;
	const struct tracedat *t;
	struct out *out;
	unsigned items; /* that are wanted */
	struct cut strings;
	VEC(struct pointed) pointed;
	unsigned n_options, n_lists;
	uint32_t n_cpus; /* version 6 */
	bool has_clock;
};

/* When one of these items is wanted; else nothing of it is evaluated. */
#define DUMP(d, which, ...)                                \
	do {                                               \
		if ((d)->items & (which))                  \
			out_printf((d)->out, __VA_ARGS__); \
	} while (0)

/* A text of that size, without what follows a NUL in it, and a line's end. */
void dump_text(struct dump *d, unsigned which, struct cut *c, uint64_t size);
/* The line of a section of version 7; its number, or -1 when there is none. */
int dump_section_line(struct dump *d, unsigned which, uint64_t offset);

/* Options up to their end; where the next list of them is (version 7), or 0. */
uint64_t dump_options(struct dump *d, struct cut *c);
