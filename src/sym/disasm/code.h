/* SPDX-License-Identifier: MIT */
/*
 * Where a program can be probed.
 *
 * The kernel writes its breakpoint wherever it is told to: between two bytes of an instruction it
 * breaks the program. What it costs depends on the instruction.
 */
#pragma once

#include "sym/elf/symtab.h"

/* Fails unless addr is code, and where an instruction begins as far as can be known. */
int code_check(const struct elf *elf, const struct symtab *names, const char *path, uint64_t addr,
	       struct err *e);

/*
 * Where in a file's code branches lead to, or may: bytes that look like one count. Zeroed: not
 * looked for yet.
 */
struct code_led {
	uint64_t from; /* the first address */
	size_t n;      /* 0: nobody knows */
	uint8_t *bit;
	bool looked;
};

/*
 * Where to put a probe at the beginning of a function: there, or behind an endbr64, which does
 * nothing. The kernel executes that one in a copy, step by step, for several microseconds; most of
 * what follows it (push, jmp) it does itself. Registers but the program counter, the stack and the
 * return address are the same. Only where whoever gets there came through the beginning: no direct
 * branch of the file leads there, and the function has no jump whose target is not known. led is
 * of this file.
 */
uint64_t code_entry(const struct elf *elf, const struct symtab_sym *s, struct code_led *led);
void code_led_free(struct code_led *led);
