/* SPDX-License-Identifier: MIT */
/*
 * How much of a file's code its unwinding information knows. A program may have an
 * .eh_frame and yet none for its own functions: the C library's start-up code always
 * brings some along.
 */
#pragma once

#include "sym/elf/elf.h"
#include "sym/unwind/ehframe.h"

struct cover {
	uint64_t bytes;	  /* of all functions that have a symbol */
	uint64_t without; /* of them, those no table knows */
	uint64_t framed;  /* of these, in functions that set up a frame pointer */
};

/* -ENODATA when there is no function or no table. */
int cover_measure(const struct ehframe *f, const struct elf *e, struct cover *ret);
