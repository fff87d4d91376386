/* SPDX-License-Identifier: MIT */
/*
 * Rows for code that has no call frame information, where its bytes leave no
 * doubt: the signal return trampolines of C libraries and vDSOs that describe
 * none, procedure linkage tables (lld and every aarch64 linker leave them
 * undescribed), and the entry point, below which there is no frame.
 */
#include "sym/unwind/ehframe_cfi.h"

#include <elf.h>

#include "base/mem.h"

#define GAP_MIN 16   /* less is padding between functions */
#define ENTRY_MAX 64 /* how much of an undescribed entry point counts as such */
#define WINDOW (64u << 10)
#define OVERLAP 32 /* of windows: longer than anything that is looked for */
#define X86_SIGRETURN 9

/* What the kernel puts on the stack: where registers are saved, from sp in the trampoline. */
static const struct ehframe_rule x86_signal = {
	.cfa = EHFRAME_CFA_DEREF_SP,
	.cfa_off = 160,
	.fp = EHFRAME_FP_SP,
	.fp_off = 120 / 8,
	.ra = EHFRAME_RA_SP | EHFRAME_RA_SIGNAL,
	.ra_off = 168 / 8,
};
static const struct ehframe_rule arm_signal = {
	.cfa = EHFRAME_CFA_DEREF_SP,
	.cfa_off = 560,
	.fp = EHFRAME_FP_SP,
	.fp_off = 544 / 8,
	.ra = EHFRAME_RA_SP | EHFRAME_RA_SIGNAL,
	.ra_off = 568 / 8,
};

static struct ehframe_rule x86_frame(int cfa_off)
{
	return (struct ehframe_rule){
		.cfa = EHFRAME_CFA_SP, .cfa_off = cfa_off, .ra = EHFRAME_RA_CFA, .ra_off = -1
	};
}

static const struct ehframe_rule arm_leaf = {
	.cfa = EHFRAME_CFA_SP,
	.ra = EHFRAME_RA_REG,
	.ra_off = EHFRAME_ARM64_LR,
};
static const struct ehframe_rule arm_plt0 = {
	.cfa = EHFRAME_CFA_SP,
	.cfa_off = 16,
	.ra = EHFRAME_RA_CFA,
	.ra_off = -1,
};

struct gap {
	struct ehframe_builder *b;
	uint64_t off; /* of text[0] */
	const uint8_t *text;
	size_t n;
};

static void ehframe_code_put(const struct gap *g, size_t at, size_t len,
			     const struct ehframe_rule *rule)
{
	ehframe_emit(g->b, g->off + at, ehframe_rule_id(g->b, rule));
	ehframe_emit(g->b, g->off + at + len, EHFRAME_RULE_NONE);
}

static const uint8_t sigreturn_code[X86_SIGRETURN] = {
	0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
};

bool ehframe_code_signal(struct ehframe_builder *b, uint64_t start, uint32_t *rule)
{
	uint8_t code[X86_SIGRETURN];

	if (b->f->machine != EM_X86_64 || !b->text_left)
		return false;
	b->text_left--;
	if (ehframe_text(b->f, start, code, sizeof(code)) != sizeof(code) ||
	    memcmp(code, sigreturn_code, sizeof(code)) != 0)
		return false;
	*rule = ehframe_rule_id(b, &x86_signal);
	return true;
}

/* The next `mov $15, %rax; syscall` at or after from; g->n when there is none. */
static size_t x86_sigreturn(const struct gap *g, size_t from)
{
	const uint8_t *p = from < g->n ? memmem(g->text + from, g->n - from, sigreturn_code,
						sizeof(sigreturn_code))
				       : NULL;

	return p ? (size_t)(p - g->text) : g->n;
}

/* A procedure linkage entry at text[i], 16 bytes. */
static void x86_plt(const struct gap *g, size_t i)
{
	const uint8_t *p = g->text + i;
	bool endbr = !memcmp(p, "\xf3\x0f\x1e\xfa", 4);
	struct ehframe_rule r = x86_frame(8);

	if (p[0] == 0xff && p[1] == 0x25 && p[6] == 0x68 && p[11] == 0xe9) /* jmp; push; jmp */
		r.extra = 11;
	else if (endbr && p[4] == 0x68 && (p[9] == 0xe9 || (p[9] == 0xf2 && p[10] == 0xe9)))
		r.extra = 9;
	if (r.extra) {
		r.cfa = EHFRAME_CFA_PLT;
		ehframe_code_put(g, i, 16, &r);
	} else if (p[0] == 0xff && p[1] == 0x35 && p[6] == 0xff && p[7] == 0x25) { /* push; jmp */
		r = x86_frame(16);
		ehframe_code_put(g, i, 6, &r);
		r = x86_frame(24);
		ehframe_code_put(g, i + 6, 10, &r);
	} else if (endbr && !memcmp(p + 4 + (p[4] == 0xf2), "\xff\x25", 2)) {
		ehframe_code_put(g, i, 16, &r);
	}
}

/* Entries of 8 bytes (jmp; two-byte nop): what a static program reaches its IFUNCs through. */
static void x86_short_plt(const struct gap *g, size_t i)
{
	struct ehframe_rule r = x86_frame(8);

	for (size_t j = i; j + 8 <= g->n && j < i + 16; j += 8) {
		const uint8_t *p = g->text + j;

		if (p[0] == 0xff && p[1] == 0x25 && p[6] == 0x66 && p[7] == 0x90)
			ehframe_code_put(g, j, 8, &r);
	}
}

static void x86_scan(const struct gap *g)
{
	size_t sig = x86_sigreturn(g, 0);

	for (size_t i = (0 - g->off) % 16; sig < g->n || g->n - i >= 16; i += 16) {
		for (; sig < g->n && (sig < i || g->n - i < 16); sig = x86_sigreturn(g, sig + 1))
			/* The handler returns to its first byte; asked is the byte before. */
			ehframe_code_put(g, sig ? sig - 1 : 0, X86_SIGRETURN + (sig ? 1 : 0),
					 &x86_signal);
		if (i >= g->n || g->n - i < 16)
			break;
		if (g->text[i] == 0xff || g->text[i] == 0xf3)
			x86_plt(g, i);
		if (g->text[i + 7] == 0x90 || g->text[i + 15] == 0x90)
			x86_short_plt(g, i);
	}
}

/* [bti c] adrp x16; ldr x17, [x16, ..]; add x16, x16, ..; [autia1716]; br x17 */
static size_t arm_plt_len(const uint8_t *p, size_t left)
{
	size_t n = 0;

	if (left >= 4 && bytes_at32(p) == 0xd503245f)
		n += 4;
	if (left < n + 16 || (bytes_at32(p + n) & 0x9f00001f) != 0x90000010 ||
	    (bytes_at32(p + n + 4) & 0xffc003ff) != 0xf9400211 ||
	    (bytes_at32(p + n + 8) & 0xffc003ff) != 0x91000210)
		return 0;
	n += 12;
	if (bytes_at32(p + n) == 0xd503219f)
		n += 4;
	return left >= n + 4 && bytes_at32(p + n) == 0xd61f0220 ? n + 4 : 0;
}

/* Recognises what starts at text[i]; how many bytes it took, 0 for nothing. */
static size_t arm_at(const struct gap *g, size_t i)
{
	const uint8_t *p = g->text + i;
	size_t left = g->n - i, len;

	if (left < 8 || (g->off + i) % 4)
		return 0;
	if (bytes_at32(p) == 0xd2801168 &&
	    bytes_at32(p + 4) == 0xd4000001) { /* mov x8, #139; svc #0 */
		ehframe_code_put(g, i ? i - 1 : 0, 8 + (i ? 1 : 0), &arm_signal);
		return 8;
	}
	len = arm_plt_len(p, left);
	if (len) {
		ehframe_code_put(g, i, len, &arm_leaf);
		return len;
	}
	if (bytes_at32(p) == 0xa9bf7bf0) { /* stp x16, x30, [sp, #-16]! */
		len = arm_plt_len(p + 4, left - 4);
		if (len) {
			ehframe_code_put(g, i, 4, &arm_leaf);
			ehframe_code_put(g, i + 4, len, &arm_plt0);
			return len + 4;
		}
	}
	return 0;
}

static void arm_scan(const struct gap *g)
{
	for (size_t i = (0 - g->off) % 4; i < g->n;) {
		size_t len = arm_at(g, i);

		i += len ? len : 4;
	}
}

/* [start, end) lies in one segment. */
static void scan(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	AUTO_FREE uint8_t *buf = NULL;

	if (end - start < GAP_MIN)
		return;
	buf = mem_grow(NULL, end - start < WINDOW ? end - start : WINDOW);
	while (start < end && b->text_left) {
		struct gap g = { .b = b, .off = start, .text = buf };
		uint64_t want = end - start < WINDOW ? end - start : WINDOW;

		g.n = ehframe_text(b->f, start, buf, want < b->text_left ? want : b->text_left);
		if (!g.n)
			break;
		b->text_left -= g.n;
		if (b->f->machine == EM_X86_64)
			x86_scan(&g);
		else
			arm_scan(&g);
		start += g.n == WINDOW ? WINDOW - OVERLAP : g.n;
	}
}

static void segment_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	uint64_t at, stop;

	if (!b->f->entry || !ehframe_offset(b->f, b->f->entry, &at) || at < start || at >= end) {
		scan(b, start, end);
		return;
	}
	stop = end - at > ENTRY_MAX ? at + ENTRY_MAX : end;
	scan(b, start, at);
	ehframe_emit(b, at, EHFRAME_RULE_BOTTOM);
	ehframe_emit(b, stop, EHFRAME_RULE_NONE);
	scan(b, stop, end);
}

/*
 * The C library ends the description of clone just before its system call,
 * because it would be wrong for the child. For the parent it still holds, and
 * nearly all time in there is the parent's. The next FDE then starts at an odd
 * place; an aligned one means that the gap is mere padding.
 */
static void syscall_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	uint8_t code[2];

	if (end - start < 2 || end % 16 == 0 || b->f->machine != EM_X86_64 || !b->text_left ||
	    b->last_rule >= b->n_rules || b->rules[b->last_rule].cfa != EHFRAME_CFA_SP)
		return;
	b->text_left--;
	if (ehframe_text(b->f, start, code, 2) == 2 && code[0] == 0x0f && code[1] == 0x05) {
		ehframe_emit(b, start, b->last_rule);
		ehframe_emit(b, end, EHFRAME_RULE_NONE);
	}
}

void ehframe_code_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	if (end - start < GAP_MIN) {
		syscall_gap(b, start, end);
		return;
	}
	if (start < b->f->code_start)
		start = b->f->code_start;
	if (end > b->f->code_end)
		end = b->f->code_end;
	if (start >= end || end - start < GAP_MIN)
		return;
	for (unsigned i = 0; i < b->f->n_segs; i++) {
		const struct ehframe_seg *s = &b->f->seg[i];
		uint64_t lo = start > s->off ? start : s->off;
		uint64_t hi = end < s->off + s->size ? end : s->off + s->size;

		if (lo < hi && !ehframe_go_gap(b, lo, hi))
			segment_gap(b, lo, hi);
	}
}
