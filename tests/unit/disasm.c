/* SPDX-License-Identifier: MIT */
/* Machine code as text: lengths, jumps and calls of two machines, and bytes that are no code. */
#include "config.h"
#include "sym/disasm.h"

#include <elf.h>

#include "tap.h"

static void x86(void)
{
	static const uint8_t code[] = {
		0x89, 0xf8,			    /* 1000: mov %edi,%eax */
		0xeb, 0x05,			    /* 1002: jmp 1009 */
		0x74, 0xfa,			    /* 1004: je 1000 */
		0xff, 0xe0,			    /* 1006: jmp *%rax */
		0x06,				    /* 1008: no instruction in 64 bits */
		0xe8, 0xf2, 0xff, 0xff, 0xff,	    /* 1009: call 1000 */
		0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, /* 100e: mov 0x10(%rip),%eax  # 1024 */
		0xc3,				    /* 1014: ret */
		0x48,				    /* 1015: half an instruction */
	};
	struct disasm_code c = {
		.machine = EM_X86_64, .addr = 0x1000, .bytes = code, .n = sizeof(code)
	};
	struct arena a = { 0 };
	disasm_list l = { 0 };
	struct err e = { 0 };

	if (disasm(&c, &a, &l, &e) == -ENOTSUP) {
		SKIP(e.msg);
		return;
	}
	CHECK_INT(l.n, 9);
	CHECK_STR(l.data[0].args, "%edi,%eax");
	CHECK_INT(l.data[0].flow, DISASM_NEXT);
	CHECK(!l.data[0].has_target);
	CHECK_INT(l.data[1].flow, DISASM_JUMP);
	CHECK_INT(l.data[1].target, 0x1009);
	CHECK_STR(l.data[1].args, "");
	CHECK_INT(l.data[2].flow, DISASM_BRANCH);
	CHECK_INT(l.data[2].target, 0x1000);
	CHECK_INT(l.data[3].flow, DISASM_JUMP);
	CHECK(!l.data[3].has_target);
	CHECK_STR(l.data[4].name, "(bad)");
	CHECK_INT(l.data[4].size, 1);
	CHECK_INT(l.data[5].flow, DISASM_CALL);
	CHECK_INT(l.data[5].target, 0x1000);
	CHECK_INT(l.data[6].flow, DISASM_NEXT);
	CHECK_INT(l.data[6].target, 0x1024);
	CHECK_INT(l.data[7].flow, DISASM_RETURN);
	CHECK_STR(l.data[8].name, "(bad)");
	CHECK_INT(l.data[8].addr, 0x1015);
	vec_free(&l);

	c.intel = true;
	CHECK_INT(disasm(&c, &a, &l, &e), 0);
	CHECK_STR(l.data[0].args, "eax,edi");
	vec_free(&l);
	arena_free(&a);
}

static void aarch64(void)
{
	static const uint8_t code[] = {
		0x20, 0x00, 0x02, 0x8b, /* 400000: add x0, x1, x2 */
		0xff, 0xff, 0xff, 0x17, /* 400004: b 400000 */
		0x41, 0x00, 0x00, 0x54, /* 400008: b.ne 400010 */
		0xc0, 0xff, 0xff, 0xb4, /* 40000c: cbz x0, 400004 */
		0xfc, 0xff, 0xff, 0x97, /* 400010: bl 400000 */
		0x20, 0x00, 0x1f, 0xd6, /* 400014: br x1 */
		0xc0, 0x03, 0x5f, 0xd6, /* 400018: ret */
		0xff, 0xff, 0xff, 0xff, /* 40001c: no instruction */
		0x1f, 0x20,		/* 400020: half of one */
	};
	struct disasm_code c = {
		.machine = EM_AARCH64, .addr = 0x400000, .bytes = code, .n = sizeof(code)
	};
	struct arena a = { 0 };
	disasm_list l = { 0 };
	struct err e = { 0 };

	if (disasm(&c, &a, &l, &e) == -ENOTSUP) {
		SKIP(e.msg);
		return;
	}
	CHECK_INT(l.n, 10);
	CHECK_STR(l.data[0].args, "x0,x1,x2");
	CHECK_INT(l.data[1].flow, DISASM_JUMP);
	CHECK_INT(l.data[1].target, 0x400000);
	CHECK_INT(l.data[2].flow, DISASM_BRANCH);
	CHECK_INT(l.data[2].target, 0x400010);
	CHECK_INT(l.data[3].flow, DISASM_BRANCH);
	CHECK_INT(l.data[3].target, 0x400004);
	CHECK_STR(l.data[3].args, "x0,");
	CHECK_INT(l.data[4].flow, DISASM_CALL);
	CHECK_INT(l.data[4].target, 0x400000);
	CHECK_INT(l.data[5].flow, DISASM_JUMP);
	CHECK(!l.data[5].has_target);
	CHECK_INT(l.data[6].flow, DISASM_RETURN);
	CHECK_STR(l.data[7].name, "(bad)");
	CHECK_INT(l.data[7].size, 4);
	CHECK_INT(l.data[8].addr, 0x400020);
	CHECK_INT(l.data[9].addr, 0x400021);
	vec_free(&l);
	arena_free(&a);
}

static void unknown(void)
{
	struct disasm_code c = { .machine = 12345, .bytes = (const uint8_t *)"x", .n = 1 };
	disasm_list l = { 0 };
	struct arena a = { 0 };
	struct err e = { 0 };

	CHECK_INT(disasm(&c, &a, &l, &e), -ENOTSUP);
	CHECK(e.msg[0]);
	CHECK_INT(l.n, 0);
}

int main(void)
{
	x86();
	aarch64();
	unknown();
	return tap_end();
}
