/* SPDX-License-Identifier: MIT */
/* Which copies of kallsyms are taken for what the kernel would write; which lines go with a
 * recording. */
#include "live/about/ksyms.h"

#include "tap.h"

#define CORE "ffffffff81000000 T _text\nffffffff81000040 T start\nffffffff82000000 T _etext\n"
#define NAT "ffffffffc0a01000 t nat_one\t[nf_nat]\nffffffffc0b00000 d nat_two\t[nf_nat]\n"
#define EXT "ffffffffc0c00010 t ext_one\t[ext4]\n"
#define BPF "ffffffffc0d00000 t bpf_prog_1\t[bpf]\n"
#define NAT_HERE "nf_nat 57344 2 xt_nat, Live 0xffffffffc0a00000\n"
#define EXT_HERE "ext4 4096 0 - Live 0xffffffffc0c00000\n"

static bool same(const char *text, const char *modules)
{
	return ksyms_same(text, strlen(text), CORE, strlen(CORE), modules);
}

#define A "ffffffff81000000 T _text\n"
#define B "ffffffff81000100 t __pfx_one\nffffffff81000110 T one\nffffffff81000110 W one_too\n"
#define C "ffffffff81000180 r table\nffffffff81000200 T two\n"
#define D "ffffffff81000300 T _etext\n"
#define MODULE "ffffffff81100000 t first\t[a_module]\n"

/* The lines that name addresses, and no others, as a look at each line finds them. */
static bool lines(const char *text, uint64_t x, uint64_t y, const char *want)
{
	struct ksyms k = { .text = (char *)text,
			   .size = strlen(text),
			   .start = 0xffffffff81000000,
			   .end = 0xffffffff81000300 };
	uint64_t addr[] = { x, y };
	AUTO_STRBUF got = { 0 };

	ksyms_lines(&k, addr, y ? 2 : 1, &got);
	return strcmp(strbuf_str(&got), want) == 0;
}

static void test_lines(void)
{
	CHECK(lines(A B C D, 0xffffffff81000005, 0, A "ffffffff81000100 - -\n"));
	/* of those of one address the last, up to the next that is not data */
	CHECK(lines(A B C D, 0xffffffff81000190, 0,
		    "ffffffff81000110 W one_too\nffffffff81000200 - -\n"));
	CHECK(lines(A B C D, 0xffffffff81000110, 0,
		    "ffffffff81000110 W one_too\nffffffff81000200 - -\n"));
	CHECK(lines(A B C D, 0xffffffff81000201, 0,
		    "ffffffff81000200 T two\nffffffff81000300 - -\n"));
	/* what nothing follows has no end */
	CHECK(lines(A B C D, 0xffffffff81000300, 0, D));
	/* each once, in order, whatever order was asked in; a blank or half a line is none */
	CHECK(lines(A B C D "\n", 0xffffffff81000210, 0xffffffff81000115,
		    "ffffffff81000110 W one_too\nffffffff81000200 T two\nffffffff81000300 - -\n"));
	CHECK(lines(A B C D "fff", 0xffffffff81000210, 0xffffffff81000220,
		    "ffffffff81000200 T two\nffffffff81000300 - -\n"));
	/* marks of the assembler name nothing; the kernel's last function ends with its page */
	CHECK(lines("ffffffff81000000 t asm_one\nffffffff81000008 t $x\n" MODULE,
		    0xffffffff81000010, 0, "ffffffff81000000 t asm_one\nffffffff81001000 - -\n"));
	CHECK(lines(A MODULE, 0xffffffff81000010, 0, A "ffffffff81001000 - -\n"));
	CHECK(lines("", 0xffffffff81000210, 0, ""));
}

int main(void)
{
	static const char moved[] = "ffffffff91000000 T _text\nffffffff91000040 T start\n"
				    "ffffffff92000000 T _etext\n";
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T start\n";

	CHECK(same(CORE, ""));
	CHECK(same(CORE BPF, ""));
	CHECK(!same(moved, ""));
	CHECK(!ksyms_same(hidden, strlen(hidden), hidden, strlen(hidden), ""));
	CHECK(!ksyms_same(CORE, strlen(CORE), CORE, 8, ""));
	CHECK(!ksyms_same(CORE, 40, CORE, strlen(CORE), ""));
	CHECK(same(CORE NAT EXT BPF, NAT_HERE EXT_HERE));
	CHECK(same(CORE NAT EXT, EXT_HERE NAT_HERE));
	/* one was loaded since, or is gone, or is elsewhere, or hides where */
	CHECK(!same(CORE NAT, NAT_HERE EXT_HERE));
	CHECK(!same(CORE, EXT_HERE));
	CHECK(!same(CORE NAT EXT, NAT_HERE));
	CHECK(!same(CORE NAT EXT, NAT_HERE "ext4 4096 0 - Live 0xffffffffc0f00000\n"));
	CHECK(!same(CORE NAT, "nf_nat 57344 2 xt_nat, Live 0x0000000000000000\n"));
	CHECK(!same(CORE EXT, "ext 4096 0 - Live 0xffffffffc0c00000\n"));
	/* only its data are where the copy has them */
	CHECK(!same(CORE NAT, "nf_nat 57344 2 - Live 0xffffffffc0a08000\n"));
	/* cut anywhere */
	for (size_t n = 0; n < strlen(CORE NAT EXT); n++) {
		char text[512] = "";

		memcpy(text, CORE NAT EXT, n);
		if (ksyms_same(text, n, CORE, strlen(CORE), NAT_HERE EXT_HERE) &&
		    n < strlen(CORE NAT) + 20)
			CHECK(false);
	}
	test_lines();
	return tap_end();
}
