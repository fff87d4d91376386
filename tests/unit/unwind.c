/* SPDX-License-Identifier: MIT */
/*
 * Unwinding copied stacks made by hand: how a chain ends, each kind of rule,
 * aarch64 (which cannot be single-stepped here), expressions in full.
 */
#include "tap.h"

#include <linux/perf_event.h>

#include "elfmake.h"
#include "sym/unwind/unwind.h"

#define BASE 0x7f0000000000u /* where the image's code is mapped */
#define PC(off) (BASE + (off))
#define STACK 0x7ffd00000000u

struct world {
	bytes_t image;
	struct ehframe *cfi;
	struct ehframe_table *table;
	bool no_table, no_cfi;
	uint64_t stack[512];
	size_t stack_n; /* words copied */
	struct unwind_regs regs;
	uint64_t chain[64];
	struct unwind_result r;
	uint32_t max;
	unsigned finds;
};

static void world_open(struct world *w, struct elfmake *m)
{
	memset(w, 0, sizeof(*w));
	w->regs.machine = m->machine;
	w->image = elfmake(m);
	w->stack_n = 512;
	w->max = 64;
	CHECK_INT(ehframe_open_mem(w->image.data, w->image.n, 0, &w->cfi, NULL), 0);
	CHECK_INT(ehframe_build(w->cfi, &w->table, NULL), 0);
	elfmake_free(m);
}

static void world_close(struct world *w)
{
	ehframe_table_free(w->table);
	ehframe_close(w->cfi);
	vec_free(&w->image);
}

static void set(struct world *w, unsigned reg, uint64_t v)
{
	w->regs.r[reg] = v;
	w->regs.known |= (uint64_t)1 << reg;
}

static bool find(void *ctx, uint64_t pc, struct unwind_map *ret)
{
	struct world *w = ctx;

	w->finds++;
	if (pc < BASE || pc >= BASE + CODE_SIZE)
		return false;
	*ret = (struct unwind_map){ BASE, BASE + CODE_SIZE, CODE_OFF, w->no_table ? NULL : w->table,
				    w->no_cfi ? NULL : w->cfi };
	return true;
}

/* Many at once, with rules remembered: each as it is alone, whatever stands beside it. */
static void go_many(struct world *w, const struct unwind_input *in)
{
	static struct unwind_known known[UNWIND_KNOWN];
	static struct unwind_job job[40];
	static uint64_t chain[40][64];
	struct unwind_cache cache = { .space = 7, .known = known };
	struct unwind_input empty = *in;
	bool same = true;

	memset(known, 0, sizeof(known));
	memset(chain, 0, sizeof(chain));
	empty.stack_size = 0;
	for (unsigned i = 0; i < 40; i++)
		job[i] = (struct unwind_job){ .in = i % 5 == 3 ? empty : *in,
					      .chain = chain[i],
					      .max = i % 7 == 2 && w->max > 2 ? 2 : w->max };
	unwind_stacks(job, 40, &cache);
	for (unsigned i = 0; i < 40; i++)
		if (job[i].max == w->max && i % 5 != 3)
			same &= job[i].ret.n == w->r.n && job[i].ret.end == w->r.end &&
				job[i].ret.flags == w->r.flags &&
				job[i].ret.end_pc == w->r.end_pc &&
				memcmp(chain[i], w->chain, w->r.n * 8) == 0;
		else
			same &= job[i].ret.n <= job[i].max;
	CHECK_CASE(same, "%u frames, %s: the same among others", w->r.n, unwind_end_name(w->r.end));
}

static void go(struct world *w)
{
	struct unwind_input in = { .regs = &w->regs,
				   .stack = (const uint8_t *)w->stack,
				   .stack_size = w->stack_n * 8,
				   .find = find,
				   .ctx = w };
	struct unwind_cache cache = { 0 };
	unsigned finds;

	memset(w->chain, 0, sizeof(w->chain));
	unwind_stack(&in, &cache, w->chain, w->max, &w->r);
	finds = w->finds;
	go_many(w, &in);
	w->finds = finds;
}

static bool ended(const struct world *w, enum unwind_end end, uint32_t n)
{
	if (w->r.end != end || w->r.n != n)
		printf("# %s after %u: %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "\n",
		       unwind_end_name(w->r.end), w->r.n, w->chain[0], w->chain[1], w->chain[2]);
	return w->r.end == end && w->r.n == n;
}

/*
 * The functions: 0x100 a frame of 16 + 8 bytes, 0x200 with a frame pointer,
 * 0x300 the outermost, 0x400 nothing known, 0x500 up realigned, 0x600 RA in rdi,
 * 0x700 an expression, 0x800 CFA from r13 which 0x900 saves.
 */
static void x86(struct world *w)
{
	struct elfmake m;

	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	make_fde(&m, CODE_ADDR + (0x100), 0x80, "\x0e\x18", 2);
	make_fde(&m, CODE_ADDR + (0x200), 0x80, "\x0e\x10\x86\x02\x0d\x06", 6);
	make_fde(&m, CODE_ADDR + (0x300), 0x80, "\x07\x10", 2);
	make_fde(&m, CODE_ADDR + (0x500), 0x80, "\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00", 10);
	make_fde(&m, CODE_ADDR + (0x600), 0x80, "\x0e\x00\x09\x10\x05", 5);
	/* CFA: rsp + 24, by way of a branch over an invalid byte, and some arithmetic. */
	make_fde(&m, CODE_ADDR + (0x700), 0x80,
		 "\x0f\x0e\x77\x00"	/* def_cfa_expression, 14 bytes: breg7 0 */
		 "\x31\x28\x01\x00\xff" /* lit1; bra +1; nonsense */
		 "\x36\x34\x1e"		/* lit6 * lit4 */
		 "\x12\x13"		/* dup, drop */
		 "\x22\x96",		/* plus, nop */
		 16);
	make_fde(&m, CODE_ADDR + (0x800), 0x80, "\x0c\x0d\x10", 3);
	make_fde(&m, CODE_ADDR + (0x900), 0x80, "\x0e\x10\x8d\x02", 4);
	world_open(w, &m);
	set(w, EHFRAME_X86_SP, STACK);
	set(w, EHFRAME_X86_FP, 0);
	set(w, 16, PC(0x110));
}

static void x86_chains(void)
{
	struct world w;

	x86(&w);
	/* 0x100 -> 0x220 -> 0x100 again -> 0x300: bottom. */
	w.stack[2] = PC(0x220); /* 0x100's return address at sp + 16 */
	set(&w, EHFRAME_X86_FP, STACK + 8 * 10);
	w.stack[10] = 0xdead; /* 0x200's saved rbp */
	w.stack[11] = PC(0x140);
	w.stack[14] = PC(0x310);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 4));
	CHECK(w.chain[0] == PC(0x110) && w.chain[1] == PC(0x220) && w.chain[2] == PC(0x140) &&
	      w.chain[3] == PC(0x310));
	CHECK(w.r.flags == 0 && w.finds == 1);
	/* Cut by depth, by the copy's end, by a bad frame pointer. */
	w.max = 2;
	go(&w);
	CHECK(ended(&w, UNWIND_DEPTH, 2));
	w.max = 64;
	w.stack_n = 11;
	go(&w);
	CHECK(ended(&w, UNWIND_TRUNCATED, 2));
	CHECK(w.r.end_pc == PC(0x220));
	w.stack_n = 512;
	set(&w, EHFRAME_X86_FP, 0x1000);
	go(&w);
	CHECK(ended(&w, UNWIND_NO_PROGRESS, 2)); /* the CFA lies below the stack pointer */
	set(&w, EHFRAME_X86_FP, (uint64_t)1 << 60);
	go(&w);
	CHECK(ended(&w, UNWIND_BAD_ADDRESS, 2));
	/* A return address outside of everything, and one that is 0. */
	set(&w, EHFRAME_X86_FP, STACK + 8 * 10);
	w.stack[11] = 0x1234;
	go(&w);
	CHECK(ended(&w, UNWIND_NO_MAP, 3));
	w.stack[11] = 0;
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2));
	/* A call at a function's very end: the return address is the next function's. */
	w.stack[11] = PC(0x180);
	w.stack[14] = PC(0x310);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 4));
	/* Nothing known: by frame pointer, if that leads to code. */
	set(&w, 16, PC(0x410));
	w.stack[11] = PC(0x320);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2) && w.r.flags == UNWIND_USED_FP);
	w.stack[11] = 0x1234;
	go(&w);
	CHECK(ended(&w, UNWIND_NO_TABLE, 1) && w.r.flags == 0);
	set(&w, EHFRAME_X86_FP, STACK - 8); /* below the stack pointer */
	go(&w);
	CHECK(ended(&w, UNWIND_NO_TABLE, 1));
	set(&w, EHFRAME_X86_FP, 0);
	go(&w);
	CHECK(ended(&w, UNWIND_NO_TABLE, 1));
	/* No table at all for the mapping: the same. */
	w.no_table = w.no_cfi = true;
	set(&w, 16, PC(0x110));
	set(&w, EHFRAME_X86_FP, STACK + 80);
	w.stack[10] = 0;
	w.stack[11] = PC(0x130);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2) && w.r.flags == UNWIND_USED_FP);
	world_close(&w);
}

static void x86_special(void)
{
	struct world w;

	x86(&w);
	/* A realigned frame; in its epilogue the frame pointer is the caller's already. */
	set(&w, 16, PC(0x510));
	set(&w, EHFRAME_X86_FP, STACK + 8 * 4);
	w.stack[3] = STACK + 8 * 8; /* the saved CFA */
	w.stack[4] = 0xf00;	    /* the caller's rbp */
	w.stack[7] = PC(0x310);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2));
	/* A return address in a register is known only in the innermost frame. */
	set(&w, 16, PC(0x610));
	set(&w, 5, PC(0x330));
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2) && w.chain[1] == PC(0x330));
	set(&w, 16, PC(0x110));
	w.stack[2] = PC(0x620);
	go(&w);
	CHECK(ended(&w, UNWIND_NO_REGISTER, 2));
	/* An expression: evaluated where the file is at hand, else said. */
	set(&w, 16, PC(0x710));
	w.stack[2] = PC(0x340);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 2) && w.chain[1] == PC(0x340));
	CHECK(w.r.flags == UNWIND_USED_FULL);
	w.no_cfi = true;
	go(&w);
	CHECK(ended(&w, UNWIND_NEEDS_FULL, 1));
	w.no_cfi = false;
	/* A CFA from r13, which an inner frame has saved: only full evaluation follows it. */
	set(&w, 16, PC(0x910));
	w.stack[0] = STACK + 8 * 20; /* 0x900 saved r13 at CFA - 16 */
	w.stack[1] = PC(0x820);
	w.stack[21] = PC(0x350); /* CFA = r13 + 16, RA below it */
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 3) && w.chain[2] == PC(0x350));
	CHECK(w.r.flags == UNWIND_USED_FULL);
	world_close(&w);
}

static uint64_t expression(const char *block, size_t n, bool *ok)
{
	struct world w;
	struct elfmake m;
	char insns[128] = { 0x0f, (char)n };
	uint64_t cfa;

	memcpy(insns + 2, block, n);
	elfmake_init(&m, EM_X86_64);
	make_usual_cie(&m, "zR");
	make_fde(&m, CODE_ADDR + 0x100, 0x80, insns, n + 2);
	make_fde(&m, CODE_ADDR + 0x300, 0x80, "\x07\x10", 2);
	world_open(&w, &m);
	set(&w, EHFRAME_X86_SP, STACK);
	set(&w, 3, 0x8000000000000000u);
	set(&w, 16, PC(0x110));
	/* The CFA is seen by where the return address is found. */
	for (size_t i = 0; i < 512; i++)
		w.stack[i] = PC(0x300 + (i & 0x3f));
	w.stack[100] = STACK + 8 * 70;
	go(&w);
	*ok = w.r.end == UNWIND_BOTTOM && w.r.n == 2;
	cfa = *ok ? STACK + 8 * (w.chain[1] - PC(0x300) + 1) : 0;
	world_close(&w);
	return cfa;
}

static void expressions(void)
{
	/* Each gives rsp + 8 * k for a k below 64. */
	static const struct {
		const char *name, *block;
		size_t n;
		unsigned k;
	} good[] = {
		{ "constants", "\x77\x00\x08\x10\x22\x09\xf8\x22\x0a\x10\x00\x22", 12, 3 },
		{ "wide constants",
		  "\x77\x00\x0c\x20\x00\x00\x00\x22\x10\xa8\x01\x22\x11\xd8\x7e\x22", 16, 4 },
		{ "deref",
		  "\x77\xa0\x06\x06\x77\x00\x1c\x77\x00\x22\x23\x00\x08\xf0\x1c\x08\x80\x1c", 18,
		  24 },
		{ "swap, over, rot, pick",
		  "\x32\x33\x16\x14\x17\x15\x02\x22\x22\x22\x34\x24\x77\x00\x22", 15, 22 },
		{ "shifts and signs",
		  "\x73\x00\x08\x3c\x25\x73\x00\x08\x3f\x26\x22\x33\x24\x77\x00\x22\x38\x22", 18,
		  8 },
		{ "compare",
		  "\x73\x00\x30\x2d\x30\x73\x00\x2b\x22\x31\x32\x2e\x22\x34\x24\x77\x00\x22", 18,
		  6 },
		{ "division", "\x08\x51\x38\x1b\x08\x0d\x35\x1d\x22\x33\x24\x77\x00\x22", 14, 13 },
		{ "skip", "\x77\x00\x2f\x02\x00\x00\x00\x40\x22", 9, 2 },
	};
	static const struct {
		const char *name, *block;
		size_t n;
	} bad[] = {
		{ "empty", "", 0 },
		{ "stack underflow", "\x22", 1 },
		{ "division by zero", "\x31\x30\x1b", 3 },
		{ "a loop for ever", "\x2f\xfd\xff", 3 },
		{ "a branch out of it", "\x77\x00\x2f\x40\x00", 5 },
		{ "an unknown register", "\x75\x00", 2 },
		{ "too deep", "\x31\x12\x12\x2f\xfb\xff", 6 },
		{ "an operation that makes no sense here", "\x77\x00\x9c", 3 },
		{ "memory that is not there", "\x30\x06", 2 },
		{ "cut", "\x77\x00\x0c\x01", 4 },
	};
	bool ok;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		uint64_t cfa = expression(good[i].block, good[i].n, &ok);

		CHECK_CASE(ok && cfa == STACK + 8 * good[i].k, "%s gives %u (got %" PRId64 ")",
			   good[i].name, good[i].k, (int64_t)(cfa - STACK) / 8);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		expression(bad[i].block, bad[i].n, &ok);
		CHECK_CASE(!ok, "%s is refused", bad[i].name);
	}
}

/* 0x100 leaf, 0x200 frame record of 32 bytes, 0x300 outermost, 0x400 sigreturn, 0x600 nothing. */
static void arm(struct world *w)
{
	struct elfmake m;

	elfmake_init(&m, EM_AARCH64);
	memcpy(m.code + 0x400, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 8);
	make_usual_cie(&m, "zR");
	make_fde(&m, CODE_ADDR + 0x100, 0x80, "", 0);
	make_fde(&m, CODE_ADDR + 0x200, 0x80, "\x2d\x0e\x20\x9d\x04\x9e\x03", 7);
	make_fde(&m, CODE_ADDR + 0x300, 0x80, "\x07\x1e", 2);
	world_open(w, &m);
	set(w, EHFRAME_ARM64_SP, STACK);
	set(w, EHFRAME_ARM64_FP, 0);
	set(w, EHFRAME_ARM64_LR, PC(0x220));
	set(w, 32, PC(0x110));
}

static void arm_chains(void)
{
	const uint64_t pac = (uint64_t)0x2a << 48;
	struct world w;

	arm(&w);
	/* Leaf, by the link register; then a record with a signed return address. */
	w.stack[0] = STACK + 0x800;
	w.stack[1] = PC(0x310) | pac;
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 3));
	CHECK(w.chain[1] == PC(0x220) && w.chain[2] == PC(0x310));
	/* The link register is good only once. */
	w.stack[1] = PC(0x110);
	go(&w);
	CHECK(ended(&w, UNWIND_NO_REGISTER, 3));
	/* A signal: the handler's caller is the trampoline; what it interrupted is a leaf again. */
	set(&w, 32, PC(0x220));
	w.stack[1] = PC(0x400);		   /* handler returns to the trampoline */
	w.stack[4 + 70] = STACK + 8 * 400; /* sp, at 32 + 560 */
	w.stack[4 + 68] = 77;		   /* x29 */
	w.stack[4 + 69] = PC(0x240);	   /* x30 */
	w.stack[4 + 71] = PC(0x100);	   /* pc: the leaf's first instruction */
	w.stack[401] = PC(0x320);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 5));
	CHECK(w.chain[2] == PC(0x100) && w.chain[3] == PC(0x240) && w.chain[4] == PC(0x320));
	CHECK(w.r.flags == UNWIND_SIGNAL);
	/* No table: by frame record; the stack pointer then follows from the record of the next. */
	set(&w, 32, PC(0x610));
	set(&w, EHFRAME_ARM64_FP, STACK + 8 * 10);
	w.stack[10] = STACK + 8 * 20;
	w.stack[11] = PC(0x230);
	w.stack[20] = 0;
	w.stack[21] = PC(0x330);
	go(&w);
	CHECK(ended(&w, UNWIND_BOTTOM, 3) && w.r.flags == UNWIND_USED_FP);
	CHECK(w.chain[1] == PC(0x230) && w.chain[2] == PC(0x330));
	/* A function that saves no frame pointer needs the stack pointer, which is not known. */
	w.stack[11] = PC(0x120);
	w.no_cfi = true;
	go(&w);
	CHECK(ended(&w, UNWIND_NO_REGISTER, 2));
	world_close(&w);
}

static void perf_registers(void)
{
	/* PERF_REG_X86_*: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 ... */
	uint64_t values[24];
	struct unwind_regs r;

	for (unsigned i = 0; i < 24; i++)
		values[i] = 100 + i;
	CHECK_INT(unwind_regs_from_perf(EM_X86_64, PERF_SAMPLE_REGS_ABI_64, 0xff0fff, values, &r),
		  0);
	CHECK(r.r[0] == 100 && r.r[3] == 101 && r.r[2] == 102 && r.r[1] == 103 && r.r[6] == 106);
	CHECK(unwind_sp(&r) == 107 && unwind_ip(&r) == 108);
	CHECK(r.r[8] == 112 && r.r[15] == 119); /* after flags, cs and ss; r8 is bit 16 */
	CHECK_INT(unwind_regs_from_perf(EM_X86_64, PERF_SAMPLE_REGS_ABI_32, 0xff0fff, values, &r),
		  -EOPNOTSUPP);
	CHECK_INT(unwind_regs_from_perf(EM_X86_64, PERF_SAMPLE_REGS_ABI_64, 0x7f, values, &r),
		  -ENODATA);
	CHECK_INT(unwind_regs_from_perf(EM_AARCH64, PERF_SAMPLE_REGS_ABI_64, 0x1e0000000u, values,
					&r),
		  0);
	CHECK(r.r[29] == 100 && r.r[30] == 101 && unwind_sp(&r) == 102 && unwind_ip(&r) == 103);
	CHECK_STR(unwind_end_name(UNWIND_BOTTOM), "bottom");
	for (int i = 0; i < UNWIND_END_MAX; i++)
		CHECK(unwind_end_text((enum unwind_end)i)[0] &&
		      strcmp(unwind_end_name((enum unwind_end)i), "unknown"));
}

int main(void)
{
	x86_chains();
	x86_special();
	expressions();
	arm_chains();
	perf_registers();
	return tap_end();
}
