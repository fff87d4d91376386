/* SPDX-License-Identifier: MIT */
/*
 * The table builder on images made here: each kind of rule, each way to find
 * .eh_frame, overlaps and nonsense, hostile files, the cache.
 */
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

#include "elfmake.h"
#include "sym/find/cache.h"
#include "sym/unwind/ehframe.h"

#define A(x) (CODE_ADDR + (x))
#define S(s) s, sizeof(s) - 1

static struct ehframe_table *build_from(bytes_t image, unsigned flags)
{
	struct ehframe_table *t = NULL;
	struct ehframe *f = NULL;

	if (ehframe_open_mem(image.data, image.n, flags, &f, NULL) == 0)
		ehframe_build(f, &t, NULL);
	ehframe_close(f);
	return t;
}

static struct ehframe_table *build(struct elfmake *m)
{
	bytes_t image = elfmake(m);
	struct ehframe_table *t = build_from(image, 0);

	vec_free(&image);
	elfmake_free(m);
	return t;
}

static const struct ehframe_rule *at(const struct ehframe_table *t, uint32_t off)
{
	return ehframe_lookup(t, CODE_OFF + off);
}

static bool is(const struct ehframe_rule *r, int cfa, int cfa_off, int extra, int fp, int fp_off,
	       int ra, int ra_off)
{
	bool ok = r->cfa == cfa && r->cfa_off == cfa_off && r->extra == extra && r->fp == fp &&
		  r->fp_off == fp_off && r->ra == ra && r->ra_off == ra_off;

	if (!ok)
		printf("# cfa %d%+d extra %d, fp %d %d, ra %#x %d\n", r->cfa, r->cfa_off, r->extra,
		       r->fp, r->fp_off, r->ra, r->ra_off);
	return ok;
}

#define SP EHFRAME_CFA_SP
#define FP EHFRAME_CFA_FP
#define SAME EHFRAME_FP_SAME, 0
#define RA EHFRAME_RA_CFA, -1

/* The sample function all ways of finding must give: push %rbp; mov %rsp,%rbp; ...; leave; ret */
static void usual(struct elfmake *m)
{
	elfmake_init(m, EM_X86_64);
	make_usual_cie(m, "zR");
	make_fde(m, A(0x100), 0x20,
		 S("\x41\x0e\x10\x86\x02" /* +1: cfa 16, rbp at -16 */
		   "\x43\x0d\x06"	  /* +3: cfa rbp */
		   "\x50\x0c\x07\x08" /* +16: cfa rsp + 8 */));
	make_fde(m, A(0x400), 0x10, S("\x44\x0e\x20"));
}

static void check_usual(struct ehframe_table *t, const char *how)
{
	CHECK_CASE(t && t->n_fdes == 2 && t->n_bad == 0, "%s: both FDEs", how);
	if (!t)
		return;
	CHECK_CASE(is(at(t, 0x100), SP, 8, 0, SAME, RA), "%s: before push", how);
	CHECK_CASE(is(at(t, 0x101), SP, 16, 0, EHFRAME_FP_CFA, -2, RA), "%s: after push", how);
	CHECK_CASE(is(at(t, 0x104), FP, 16, 0, EHFRAME_FP_CFA, -2, RA), "%s: body", how);
	CHECK_CASE(is(at(t, 0x113), FP, 16, 0, EHFRAME_FP_CFA, -2, RA), "%s: end of body", how);
	CHECK_CASE(is(at(t, 0x114), SP, 8, 0, EHFRAME_FP_CFA, -2, RA), "%s: ret", how);
	CHECK_CASE(at(t, 0x0ff)->cfa == EHFRAME_CFA_NONE && at(t, 0x120)->cfa == EHFRAME_CFA_NONE &&
			   at(t, 0x3ff)->cfa == EHFRAME_CFA_NONE &&
			   at(t, 0)->cfa == EHFRAME_CFA_NONE &&
			   at(t, CODE_SIZE + 0x1000)->cfa == EHFRAME_CFA_NONE &&
			   ehframe_lookup(t, 0)->cfa == EHFRAME_CFA_NONE,
		   "%s: nothing outside", how);
	CHECK_CASE(is(at(t, 0x404), SP, 32, 0, SAME, RA), "%s: the second function", how);
	CHECK_CASE(at(t, 0x410)->cfa == EHFRAME_CFA_NONE, "%s: its end", how);
	ehframe_table_free(t);
}

static void ways_to_find(void)
{
	struct elfmake m;
	bytes_t image, loaded = { 0 };

	usual(&m);
	check_usual(build(&m), "everything there");
	usual(&m);
	m.no_sections = true;
	check_usual(build(&m), "no section headers");
	usual(&m);
	m.no_hdr = true;
	check_usual(build(&m), "no .eh_frame_hdr");
	usual(&m);
	m.no_hdr = m.no_sections = true;
	check_usual(build(&m), "neither");
	usual(&m);
	m.reverse_hdr = true;
	check_usual(build(&m), "search table not in order");
	/* As a loader lays it out: by address, from the lowest one. */
	usual(&m);
	image = elfmake(&m);
	for (size_t i = 0; i < FRAME_ADDR - CODE_ADDR + image.n - FRAME_OFF; i++)
		vec_push(&loaded, 0);
	memcpy(loaded.data, image.data + CODE_OFF, CODE_SIZE);
	memcpy(loaded.data + (FRAME_ADDR - CODE_ADDR), image.data + FRAME_OFF, image.n - FRAME_OFF);
	/* The headers are read from the start, where this image has code: nothing lies there. */
	memcpy(loaded.data, image.data, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr));
	check_usual(build_from(loaded, EHFRAME_LOADED), "loaded");
	vec_free(&image);
	vec_free(&loaded);
	elfmake_free(&m);
	/* .debug_frame, absolute addresses, no augmentation. */
	elfmake_init(&m, EM_X86_64);
	m.debug = true;
	make_usual_cie(&m, "");
	make_fde(&m, A(0x400), 0x10, S("\x44\x0e\x20"));
	make_fde(&m, A(0x100), 0x20, S("\x41\x0e\x10\x86\x02\x43\x0d\x06\x50\x0c\x07\x08"));
	check_usual(build(&m), ".debug_frame");
}

struct rule_case {
	const char *name, *insns;
	size_t n;
	struct ehframe_rule want;
};
#define RULE(...)           \
	{                   \
		__VA_ARGS__ \
	}

/* Instructions in force from the function's first byte. */
static const struct rule_case x86_rules[] = {
	{ "PLT", S("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  RULE(.cfa = EHFRAME_CFA_PLT, .cfa_off = 8, .extra = 11, .ra_off = -1) },
	{ "PLT of IBT", S("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3a\x2a\x33\x24\x22"),
	  RULE(.cfa = EHFRAME_CFA_PLT, .cfa_off = 8, .extra = 9, .ra_off = -1) },
	{ "saved stack pointer", S("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"),
	  RULE(.cfa = EHFRAME_CFA_DEREF_FP, .cfa_off = -8, .fp = EHFRAME_FP_FP, .ra_off = -1) },
	{ "saved stack pointer + 8", S("\x0f\x06\x77\xa8\x01\x06\x23\x08"),
	  RULE(.cfa = EHFRAME_CFA_DEREF_SP, .cfa_off = 168, .extra = 1, .ra_off = -1) },
	{ "another register", S("\x0c\x0a\x00"),
	  RULE(.cfa = EHFRAME_CFA_REG, .extra = 10, .ra_off = -1) },
	{ "return address in a register", S("\x0e\x00\x09\x10\x05"),
	  RULE(.cfa = SP, .ra = EHFRAME_RA_REG, .ra_off = 5) },
	{ "the outermost frame", S("\x07\x10"), RULE(.cfa = EHFRAME_CFA_BOTTOM) },
	{ "an expression nobody knows", S("\x0f\x03\x77\x08\x96"), RULE(.cfa = EHFRAME_CFA_FULL) },
	{ "the frame pointer in a register", S("\x09\x06\x03"), RULE(.cfa = EHFRAME_CFA_FULL) },
	{ "the stack pointer saved", S("\x87\x03"), RULE(.cfa = EHFRAME_CFA_FULL) },
	{ "the stack pointer as assumed", S("\x14\x07\x00"),
	  RULE(.cfa = SP, .cfa_off = 8, .ra_off = -1) },
	{ "the frame pointer lost", S("\x07\x06"),
	  RULE(.cfa = SP, .cfa_off = 8, .fp = EHFRAME_FP_UNDEF, .ra_off = -1) },
	{ "remember and restore", S("\x0a\x0e\x40\x86\x05\x0b"),
	  RULE(.cfa = SP, .cfa_off = 8, .ra_off = -1) },
	{ "restore a register", S("\x86\x05\xc6"), RULE(.cfa = SP, .cfa_off = 8, .ra_off = -1) },
	{ "restore_extended", S("\x86\x05\x06\x06"), RULE(.cfa = SP, .cfa_off = 8, .ra_off = -1) },
	{ "signed forms", S("\x12\x06\x7e\x11\x06\x03"),
	  RULE(.cfa = FP, .cfa_off = 16, .fp = EHFRAME_FP_CFA, .fp_off = -3, .ra_off = -1) },
	{ "offset_extended, args_size", S("\x05\x06\x04\x2e\x10"),
	  RULE(.cfa = SP, .cfa_off = 8, .fp = EHFRAME_FP_CFA, .fp_off = -4, .ra_off = -1) },
	{ "a register after an expression", S("\x0e\x38\x0f\x03\x77\x10\x06\x0d\x07"),
	  RULE(.cfa = SP, .cfa_off = 56, .ra_off = -1) },
	{ "a frame too large for 32 bits", S("\x0e\xff\xff\xff\xff\x7f"),
	  RULE(.cfa = EHFRAME_CFA_FULL) },
	{ "an offset that is no word", S("\x10\x06\x02\x77\x03"), RULE(.cfa = EHFRAME_CFA_FULL) },
	{ "an unknown instruction", S("\x3c"), RULE(.cfa = EHFRAME_CFA_NONE) },
	{ "restore without remember", S("\x0b"), RULE(.cfa = EHFRAME_CFA_NONE) },
	{ "an expression that is cut", S("\x0f\x70\x77"), RULE(.cfa = EHFRAME_CFA_NONE) },
};

static const struct rule_case arm_rules[] = {
	{ "leaf", S(""), RULE(.cfa = SP, .ra = EHFRAME_RA_REG, .ra_off = 30) },
	{ "frame record", S("\x0e\x30\x9d\x06\x9e\x05"),
	  RULE(.cfa = SP, .cfa_off = 48, .fp = EHFRAME_FP_CFA, .fp_off = -6, .ra_off = -5) },
	{ "signed return address", S("\x2d\x0e\x10\x9d\x02\x9e\x01"),
	  RULE(.cfa = SP, .cfa_off = 16, .fp = EHFRAME_FP_CFA, .fp_off = -2, .ra_off = -1) },
	{ "frame pointer", S("\x0c\x1d\x20\x9d\x04\x9e\x03"),
	  RULE(.cfa = FP, .cfa_off = 32, .fp = EHFRAME_FP_CFA, .fp_off = -4, .ra_off = -3) },
	{ "the outermost frame", S("\x07\x1e"), RULE(.cfa = EHFRAME_CFA_BOTTOM) },
	{ "restored", S("\x0e\x10\x9e\x01\x0e\x00\xde"),
	  RULE(.cfa = SP, .ra = EHFRAME_RA_REG, .ra_off = 30) },
};

static void rules(const struct rule_case *c, size_t n, uint16_t machine)
{
	for (size_t i = 0; i < n; i++) {
		const struct ehframe_rule *w = &c[i].want;
		struct ehframe_table *t;
		struct elfmake m;

		elfmake_init(&m, machine);
		make_usual_cie(&m, "zR");
		make_fde(&m, A(0x200), 0x40, c[i].insns, c[i].n);
		make_fde(&m, A(0x300), 0x40, S(""));
		t = build(&m);
		CHECK_CASE(t && is(at(t, 0x210), w->cfa, w->cfa_off, w->extra, w->fp, w->fp_off,
				   w->ra, w->ra_off),
			   "%s", c[i].name);
		/* One bad FDE does not spoil the next. */
		CHECK_CASE(t && at(t, 0x310)->cfa == SP, "%s: and the next", c[i].name);
		ehframe_table_free(t);
	}
}

static void signal_frame(void)
{
	struct ehframe_table *t;
	struct elfmake m;

	elfmake_init(&m, EM_X86_64);
	make_cie(&m, "zRS",
		 S("\x0f\x04\x77\xa0\x01\x06"	 /* cfa *(rsp + 160) */
		   "\x10\x07\x03\x77\xa0\x01"	 /* rsp there */
		   "\x10\x06\x03\x77\xf8\x00"	 /* rbp at rsp + 120 */
		   "\x10\x10\x03\x77\xa8\x01")); /* rip at rsp + 168 */
	make_fde(&m, A(0x200), 16, S(""));
	t = build(&m);
	CHECK(t && is(at(t, 0x205), EHFRAME_CFA_DEREF_SP, 160, 0, EHFRAME_FP_SP, 15,
		      EHFRAME_RA_SP | EHFRAME_RA_SIGNAL, 21));
	ehframe_table_free(t);
}

static void overlaps(void)
{
	struct ehframe_table *t;
	struct elfmake m;

	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	make_fde(&m, A(0x100), 0x100, S("\x0e\x10"));
	make_fde(&m, A(0x140), 0x10, S("\x0e\x20")); /* inside the first */
	make_fde(&m, A(0x300), 0x10, S("\x0e\x30"));
	make_fde(&m, A(0x300), 0x20, S("\x0e\x40")); /* the same start: the last counts */
	make_fde(&m, A(0x400), 0, S("\x0e\x50"));    /* of no size */
	make_fde(&m, 0x10, 0x100, S("\x0e\x60"));    /* of no code: thrown away by the linker */
	make_fde(&m, A(CODE_SIZE - 4), 0x100, S("\x42\x0e\x70\x50\x0e\x10")); /* past the segment */
	t = build(&m);
	CHECK(at(t, 0x13f)->cfa_off == 16);
	CHECK(at(t, 0x140)->cfa_off == 32);
	CHECK(at(t, 0x14f)->cfa_off == 32);
	CHECK(at(t, 0x150)->cfa == EHFRAME_CFA_NONE); /* as a search for the last start has it */
	CHECK(at(t, 0x305)->cfa_off == 64 && at(t, 0x31f)->cfa_off == 64);
	CHECK(at(t, 0x400)->cfa == EHFRAME_CFA_NONE);
	CHECK(at(t, CODE_SIZE - 4)->cfa_off == 8 && at(t, CODE_SIZE - 1)->cfa_off == 112);
	CHECK(at(t, CODE_SIZE)->cfa == EHFRAME_CFA_NONE);
	CHECK_INT(t->n_bad, 0);
	ehframe_table_free(t);
}

/* Rows over many chunks and 64 KiB pages: each must be found, from any place. */
static void many_rows(void)
{
	struct ehframe_table *t;
	struct elfmake m;
	bool ok = true;

	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	for (uint32_t i = 0; i < 2000; i++) {
		char insns[8] = {
			0x41, 0x0e, (char)(8 + i % 64 * 1), 0x44, 0x0e, (char)(9 + i % 50)
		};

		make_fde(&m, A(i * 100), 60, insns, 6);
	}
	t = build(&m);
	for (uint32_t i = 0; i < 2000 && ok; i++) {
		ok = at(t, i * 100)->cfa_off == 8 &&
		     at(t, i * 100 + 1)->cfa_off == (int)(8 + i % 64) &&
		     at(t, i * 100 + 4)->cfa_off == (int)(8 + i % 64) &&
		     at(t, i * 100 + 5)->cfa_off == (int)(9 + i % 50) &&
		     at(t, i * 100 + 59)->cfa_off == (int)(9 + i % 50) &&
		     at(t, i * 100 + 60)->cfa == EHFRAME_CFA_NONE &&
		     at(t, i * 100 + 99)->cfa == EHFRAME_CFA_NONE;
		if (!ok)
			printf("# function %u\n", i);
	}
	CHECK(ok);
	ehframe_table_free(t);
}

static void put_code(struct elfmake *m, uint32_t off, const char *code, size_t n)
{
	memcpy(m->code + off, code, n);
}

/* What code shows without any FDE. */
static void from_code(void)
{
	static const char plt[] =
		"\xff\x25\x01\x02\x03\x04\x68\x00\x00\x00\x00\xe9\x01\x02\x03\x04";
	static const char plt0[] =
		"\xff\x35\x01\x02\x03\x04\xff\x25\x01\x02\x03\x04\x0f\x1f\x40\x00";
	static const char plt_sec[] =
		"\xf3\x0f\x1e\xfa\xf2\xff\x25\x01\x02\x03\x04\x0f\x1f\x44\x00\x00";
	static const char sigreturn[] = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05";
	struct ehframe_table *t;
	struct elfmake m;

	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	make_fde(&m, A(0x2000), 0x10, S(""));
	put_code(&m, 0x40, S(plt0));
	put_code(&m, 0x50, S(plt));
	put_code(&m, 0x80, S(plt_sec));
	put_code(&m, 0x3003, S(sigreturn));
	put_code(&m, 0x20000 - 3, S(sigreturn)); /* across two windows of reading */
	m.entry = A(0x4000);
	t = build(&m);
	CHECK(is(at(t, 0x40), SP, 16, 0, SAME, RA) && is(at(t, 0x46), SP, 24, 0, SAME, RA));
	CHECK(is(at(t, 0x50), EHFRAME_CFA_PLT, 8, 11, SAME, RA));
	CHECK(at(t, 0x60)->cfa == EHFRAME_CFA_NONE);
	CHECK(is(at(t, 0x85), SP, 8, 0, SAME, RA));
	CHECK(at(t, 0x3001)->cfa == EHFRAME_CFA_NONE);
	CHECK(at(t, 0x3002)->cfa_off == 160 && (at(t, 0x300b)->ra & EHFRAME_RA_SIGNAL));
	CHECK(at(t, 0x300c)->cfa == EHFRAME_CFA_NONE);
	CHECK(at(t, 0x20000)->cfa_off == 160);
	CHECK(at(t, 0x4000)->cfa == EHFRAME_CFA_BOTTOM && at(t, 0x403f)->cfa == EHFRAME_CFA_BOTTOM);
	CHECK(at(t, 0x4040)->cfa == EHFRAME_CFA_NONE);
	ehframe_table_free(t);
	/* aarch64: mov x8, #139; svc #0, and a linkage entry. */
	elfmake_init(&m, EM_AARCH64);
	make_usual_cie(&m, "zR");
	make_fde(&m, A(0x2000), 0x10, S(""));
	put_code(&m, 0x3000, S("\x68\x11\x80\xd2\x01\x00\x00\xd4"));
	put_code(&m, 0x40,
		 S("\xf0\x7b\xbf\xa9\x10\x00\x00\x90\x11\x02\x40\xf9\x10\x02\x00\x91\x20\x02\x1f"
		   "\xd6"));
	t = build(&m);
	CHECK(at(t, 0x3000)->cfa_off == 560 && at(t, 0x2fff)->cfa_off == 560);
	CHECK(is(at(t, 0x40), SP, 0, 0, SAME, EHFRAME_RA_REG, 30));
	CHECK(is(at(t, 0x44), SP, 16, 0, SAME, RA) && is(at(t, 0x50), SP, 16, 0, SAME, RA));
	CHECK(at(t, 0x54)->cfa == EHFRAME_CFA_NONE);
	ehframe_table_free(t);
}

static uint64_t seed = 0x1234567;
static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33);
}

/* Whatever the bytes: an answer, every lookup in bounds. */
static void survive(bytes_t image, unsigned flags)
{
	struct ehframe_table *t = build_from(image, flags);

	for (uint32_t off = 0; t && off < CODE_SIZE + CODE_OFF; off += 97)
		ehframe_lookup(t, off);
	ehframe_table_free(t);
}

static void hostile(void)
{
	struct elfmake m;
	bytes_t image;
	size_t frame_end;

	usual(&m);
	m.no_sections = true;
	image = elfmake(&m);
	frame_end = image.n;
	/* Cut anywhere in what is looked at. */
	for (size_t n = 0; n < 256; n++)
		survive((bytes_t){ image.data, n, n }, 0);
	for (size_t n = FRAME_OFF; n < frame_end; n++)
		survive((bytes_t){ image.data, n, n }, n % 2 ? EHFRAME_LOADED : 0);
	/* One to four bytes changed. */
	for (int i = 0; i < 3000; i++) {
		uint8_t old[4];
		size_t where[4];
		int k = 1 + (int)(rnd() % 4);

		for (int j = 0; j < k; j++) {
			where[j] = rnd() % 4 ? FRAME_OFF + rnd() % (frame_end - FRAME_OFF)
					     : rnd() % 232;
			old[j] = image.data[where[j]];
			image.data[where[j]] =
				rnd() % 3 ? (uint8_t)rnd() : (uint8_t)(rnd() % 2 ? 0xff : 0);
		}
		survive(image, 0);
		while (k--)
			image.data[where[k]] = old[k];
	}
	CHECK(true);
	vec_free(&image);
	elfmake_free(&m);
}

/* Work is bounded by the section's size, not by what can be referred to again and again. */
static void bounded(void)
{
	struct ehframe_table *t;
	struct elfmake m;
	char *insns = calloc(1, 400000);

	/* Two huge CIEs, and FDEs that need them in turn. */
	elfmake_init(&m, EM_X86_64);
	for (int i = 0; i < 20000; i++)
		if (i == 0 || i == 1) {
			make_cie(&m, "zR", insns, 400000);
		} else {
			m.cie = i % 2 ? 0 : 400016;
			make_fde(&m, A((uint32_t)i * 8), 8, S("\x41\x0e\x10"));
		}
	t = build(&m);
	CHECK(t == NULL || t->n_rows < 100000);
	ehframe_table_free(t);
	free(insns);
	/* 65,536 different rules: more than there are numbers for. */
	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	for (uint32_t i = 0; i < 70000; i++) {
		char code[5] = { 0x0e, (char)(0x80 | (i & 0x7f)), (char)(0x80 | (i >> 7 & 0x7f)),
				 (char)(i >> 14) };

		make_fde(&m, A(i * 3), 3, code, 4);
	}
	t = build(&m);
	CHECK(t && t->n_rules <= EHFRAME_RULES_MAX);
	CHECK(at(t, 3 * 30000)->cfa_off == 30000);
	CHECK(at(t, 3 * 69999)->cfa == EHFRAME_CFA_FULL); /* not a wrong rule */
	ehframe_table_free(t);
}

static void cache(void)
{
	char dir[] = "/tmp/kymo-ehframe-XXXXXX", path[256], cmd[64];
	const struct cache_key id = { CACHE_FILE, { 0xab, 0xcd, 1 } }, none = { 0 };
	int folder = -1;
	struct ehframe_table *t, *u = NULL;
	struct elfmake m;
	struct err e;
	FILE *f;
	long size;

	usual(&m);
	t = build(&m);
	CHECK(mkdtemp(dir) != NULL);
	folder = cache_open(dir, &e);
	CHECK(folder >= 0);
	CHECK_INT(ehframe_cache_load(folder, &id, EM_X86_64, &u, &e), -ENOENT);
	CHECK_INT(ehframe_cache_save(folder, &id, t, &e), 0);
	CHECK_INT(ehframe_cache_load(folder, &id, EM_X86_64, &u, &e), 0);
	CHECK(u && u->n_rows == t->n_rows && u->base == t->base &&
	      !memcmp(u->rows, t->rows, t->n_rows * 4) && u->n_fdes == 2);
	check_usual(u, "from the cache");
	CHECK_INT(ehframe_cache_load(folder, &id, EM_AARCH64, &u, &e), -ENOENT);
	CHECK_INT(ehframe_cache_load(folder, &none, EM_X86_64, &u, &e), -ENOENT);
	/* Any change of the file is seen. */
	snprintf(path, sizeof(path), "%s/file/ab/cd01%034d/unwind-62", dir, 0);
	f = fopen(path, "r+");
	CHECK(f != NULL);
	if (f) {
		bool refused = true;

		fseek(f, 0, SEEK_END);
		size = ftell(f);
		for (long i = 0; i<size; i += size> 400 ? size / 400 : 1) {
			int c;

			fseek(f, i, SEEK_SET);
			c = fgetc(f);
			fseek(f, i, SEEK_SET);
			fputc(c ^ 0x10, f);
			fflush(f);
			refused = ehframe_cache_load(folder, &id, EM_X86_64, &u, &e) == -EBADMSG &&
				  refused;
			fseek(f, i, SEEK_SET);
			fputc(c, f);
			fflush(f);
		}
		CHECK(refused);
		CHECK_INT(ftruncate(fileno(f), size - 1), 0);
		CHECK_INT(ehframe_cache_load(folder, &id, EM_X86_64, &u, &e), -EBADMSG);
		CHECK_INT(ftruncate(fileno(f), size), 0);
		chmod(path, 0666); /* somebody else may write it: not to be trusted */
		CHECK_INT(ehframe_cache_load(folder, &id, EM_X86_64, &u, &e), -EPERM);
		fclose(f);
	}
	ehframe_table_free(t);
	close(folder);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_INT(system(cmd), 0);
}

static void refused(void)
{
	struct ehframe *f = NULL;
	struct err e;

	CHECK_INT(ehframe_open("/nonexistent", &f, &e), -ENOENT);
	CHECK_INT(ehframe_open("/dev/null", &f, &e), -EINVAL);
	CHECK_INT(ehframe_open("/", &f, &e), -EINVAL);
	CHECK_INT(ehframe_open("/etc/passwd", &f, &e), -ENOEXEC);
	CHECK(strstr(e.msg, "/etc/passwd") != NULL);
	CHECK(f == NULL);
}

int main(void)
{
	ways_to_find();
	rules(x86_rules, ARRAY_SIZE(x86_rules), EM_X86_64);
	rules(arm_rules, ARRAY_SIZE(arm_rules), EM_AARCH64);
	signal_frame();
	overlaps();
	many_rows();
	from_code();
	hostile();
	bounded();
	cache();
	refused();
	return tap_end();
}
