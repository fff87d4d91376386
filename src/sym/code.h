/* SPDX-License-Identifier: MIT */
/*
 * Whether a program can be probed at an address that somebody typed. The kernel writes its
 * breakpoint wherever it is told to: between two bytes of an instruction it breaks the program.
 */
#ifndef KYMO_SYM_CODE_H
#define KYMO_SYM_CODE_H

#include "sym/elf.h"
#include "sym/symtab.h"

/* Fails unless addr is code, and where an instruction begins as far as can be known. */
int code_check(const struct elf *elf, const struct symtab *names, const char *path, uint64_t addr,
	       struct err *e);

#endif
