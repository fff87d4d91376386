/* SPDX-License-Identifier: MIT */
/* IR to BPF instructions. */
#ifndef KYMO_LANG_GEN_EMIT_H
#define KYMO_LANG_GEN_EMIT_H

#include "lang/gen/ir.h"
#include "lang/lang.h"

/*
 * f[0] is the program, the others its callbacks. Fills insn, line and func of c from
 * the arena. -E2BIG when the stack or a jump is too large.
 */
int emit_code(struct ir_func **f, size_t n, struct arena *a, struct lang_code *c, struct err *e);

#endif
