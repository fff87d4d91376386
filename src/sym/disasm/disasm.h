/* SPDX-License-Identifier: MIT */
/*
 * Machine code as text: x86 and ARM, 32 and 64 bits, through capstone.
 *
 * Bytes that are no instruction come as "(bad)", one at a time, on ARM as ".inst" and
 * the word, so that a listing always covers what was asked for.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

enum disasm_flow { DISASM_NEXT, DISASM_JUMP, DISASM_BRANCH, DISASM_CALL, DISASM_RETURN };

struct disasm_insn {
	uint64_t addr;
	const uint8_t *bytes; /* into the code that was given */
	uint8_t size;
	uint8_t flow;	 /* enum disasm_flow; a BRANCH may also go on */
	bool has_target; /* it jumps to, calls or names a fixed address */
	uint64_t target;
	const char *name; /* "mov" */
	const char *args; /* "$0x64,%edx"; without the target, where there is one */
};

struct disasm_code {
	uint16_t machine; /* EM_... of the ELF file */
	bool big_endian;
	uint64_t addr; /* of the first byte */
	const uint8_t *bytes;
	size_t n;
	bool intel; /* Intel's syntax in place of AT&T's */
};

typedef VEC(struct disasm_insn) disasm_list;

/*
 * Appends to ret; texts come from a. -ENOTSUP for a machine that is not known,
 * or without capstone.
 */
int disasm(const struct disasm_code *code, struct arena *a, disasm_list *ret, struct err *e);

/*
 * What capstone 4 does not know of AVX-512, in which libraries do their hottest work (strlen,
 * memcmp): instructions with a VEX or EVEX prefix (vex.c). The length of every one follows from its
 * encoding; the common ones get a name and operands.
 */
struct disasm_vex {
	unsigned size;
	char name[24], args[96]; /* "(avx)" and "" where only the size is known */
	bool has_target;	 /* memory relative to the instruction's end */
	int64_t target;		 /* from its start */
};

/* False when the n bytes do not begin with such an instruction. */
bool disasm_vex(const uint8_t *p, size_t n, bool intel, struct disasm_vex *ret);
