/* SPDX-License-Identifier: MIT */
/*
 * What capstone 4 does not know of AVX-512, in which libraries do their hottest
 * work (strlen, memcmp): instructions with a VEX or EVEX prefix. The length of
 * every one follows from its encoding; the common ones get a name and operands.
 */
#ifndef KYMO_SYM_DISASM_VEX_H
#define KYMO_SYM_DISASM_VEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm_vex {
	unsigned size;
	char name[24], args[96]; /* "(avx)" and "" where only the size is known */
	bool has_target;	 /* memory relative to the instruction's end */
	int64_t target;		 /* from its start */
};

/* False when the n bytes do not begin with such an instruction. */
bool disasm_vex(const uint8_t *p, size_t n, bool intel, struct disasm_vex *ret);

#endif
