/* SPDX-License-Identifier: MIT */
/* Machine code as text: lengths, jumps and calls of two machines, and bytes that are no code. */
#include "config.h"
#include "sym/disasm/disasm.h"

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

/* What capstone 4 does not know, and cut short at every byte. */
static void avx512(void)
{
	static const struct {
		const char *bytes;
		const char *att, *intel;
		unsigned n;
	} cases[] = {
		{ "\xc5\xfb\x92\xd1", "kmovd %ecx,%k2", "kmovd k2,ecx", 4 },
		{ "\xc4\xe1\xfb\x93\xc1", "kmovq %k1,%rax", "kmovq rax,k1", 5 },
		{ "\x62\xf3\x6d\x22\x3e\x0f\x04", "vpcmpnequb (%rdi),%ymm18,%k1{%k2}",
		  "vpcmpnequb k1{k2},ymm18,[rdi]", 7 },
		{ "\x62\xf1\x7d\x48\x74\x47\x02", "vpcmpeqb 0x80(%rdi),%zmm0,%k0",
		  "vpcmpeqb k0,zmm0,[rdi + 0x80]", 7 },
		{ "\xc4\xe1\xf8\x98\xc9", "kortestq %k1,%k1", "kortestq k1,k1", 5 },
		{ "\x62\xf1\x65\xc9\x72\xe1\x05", "vpsrad $0x5,%zmm1,%zmm3{%k1}{z}",
		  "vpsrad zmm3{k1}{z},zmm1,5", 7 },
		/* a name that is not in the table */
		{ "\x62\xf2\xfd\x48\xff\xc0", "(avx)", "(avx)", 6 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct disasm_vex v;
		char text[160];

		for (int intel = 0; intel < 2; intel++) {
			bool ok =
				disasm_vex((const uint8_t *)cases[i].bytes, cases[i].n, intel, &v);

			snprintf(text, sizeof(text), "%s%s%s", v.name, *v.args ? " " : "", v.args);
			CHECK_CASE(ok && v.size == cases[i].n, "%s: its size", cases[i].att);
			CHECK_STR(text, intel ? cases[i].intel : cases[i].att);
		}
		for (size_t n = 0; n < cases[i].n; n++) {
			/* a copy of just that size: a sanitizer sees what is read beyond it */
			uint8_t *cut = mem_dup(cases[i].bytes, n);

			CHECK_CASE(!disasm_vex(cut, n, false, &v), "%s: %zu bytes are too few",
				   cases[i].att, n);
			free(cut);
		}
	}
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
	CHECK_STR(l.data[7].name, ".inst");
	CHECK_STR(l.data[7].args, "0xffffffff");
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
	avx512();
	aarch64();
	unknown();
	return tap_end();
}
