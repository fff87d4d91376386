/* SPDX-License-Identifier: MIT */
/*
 * Writing folded stacks, "comm;main;read 42", lines sorted.
 *
 * tidy follows stackcollapse-perf.pl to the letter, so that the same recording
 * gives the same text: blanks in process names become underscores, arguments
 * "(...)" and quotes leave the names, a semicolon becomes a colon, functions
 * whose name begins with a parenthesis are left out, code without a name is
 * "[file]" or "[unknown]", a java process' "Lorg/x" is "org/x".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "calc/stacks/stacks.h"

#define FOLDED_ALL_TYPES UINT32_MAX

struct folded_opts {
	bool tidy;
	bool kernel, jit, inlined; /* mark such frames with _[k], _[j], _[i] */
	bool pid, tid;		   /* comm-PID, comm-PID/TID; tid wins */
	bool addrs;		   /* [file <address>] for code without a name */
	uint32_t type;		   /* only stacks of this type, or FOLDED_ALL_TYPES */
};

/* With `after`, lines have two counts; stacks of only one side have a 0. */
int folded_write(FILE *f, const struct stacks *s, const struct stacks *after,
		 const struct folded_opts *o, struct err *e);
