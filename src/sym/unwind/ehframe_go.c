/* SPDX-License-Identifier: MIT */
/*
 * Rows from Go's own tables (.gopclntab), for Go programs without debug info:
 * how far the stack pointer is below its place at a function's entry, by address.
 * Go's compiler saves frame pointers, but not in its innermost functions, so by
 * them alone a caller is missed.
 *
 * Tables of Go 1.18 and later on x86_64; anything else, and anything that makes no
 * sense, is left to frame pointers.
 *
 * They also tell what Go's debug info does not: which functions a stack begins with, and
 * which write the stack pointer themselves. Those change to another stack, and leave the
 * frame pointer as it was: by it the stack goes on where it came from (the goroutine's that
 * called systemstack), but for the function that called them. From mcall nothing goes on:
 * the goroutine was put aside, and may run elsewhere by now.
 */
#include <elf.h>
#include <string.h>

#include "base/sort.h"
#include "sym/unwind/ehframe_build.h"

#define GO_118 0xfffffff0u
#define GO_120 0xfffffff1u
#define HEADER 72 /* magic and sizes, then eight words */
#define FLAG_TOP 1
#define FLAG_WRITES_SP 2
#define FRAME_MAX (1 << 30)
#define SIGNAL_CODE_MAX 32 /* what a handler returns to is one system call, with what pads it */

struct go {
	const uint8_t *data;
	size_t size;
	uint64_t text;		    /* address that entries count from */
	uint64_t n, pctab, functab; /* functions; where both tables are */
	uint64_t names;
	size_t flag; /* where a function's flags are */
};

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool open_tables(const struct ehframe *f, struct go *g)
{
	const uint8_t *p = f->go.data;
	uint64_t off;

	if (!p || f->go.size < HEADER || f->machine != EM_X86_64 || p[4] || p[5] || p[6] != 1 ||
	    p[7] != 8 || (u32_at(p) != GO_118 && u32_at(p) != GO_120))
		return false;
	*g = (struct go){ .data = p,
			  .size = f->go.size,
			  .n = u64_at(p + 8),
			  .text = u64_at(p + 24),
			  .names = u64_at(p + 32),
			  .pctab = u64_at(p + 56),
			  .functab = u64_at(p + 64),
			  .flag = u32_at(p) == GO_120 ? 41 : 37 };
	/* in a program that can be loaded anywhere it is filled in by the loader */
	if (!ehframe_offset(f, g->text, &off))
		g->text = f->text;
	return g->pctab < g->size && g->functab < g->size && g->n < (g->size - g->functab) / 8 &&
	       ehframe_offset(f, g->text, &off);
}

static uint32_t entry_of(const struct go *g, uint64_t i)
{
	return u32_at(g->data + g->functab + i * 8);
}

/* Base 128, low digits first; false at the end of the table. */
static bool varint(const uint8_t **p, const uint8_t *end, uint32_t *ret)
{
	uint32_t v = 0;

	for (unsigned shift = 0; *p < end && shift < 35; shift += 7) {
		uint8_t b = *(*p)++;

		v |= (uint32_t)(b & 0x7f) << (shift & 31);
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static uint32_t rule_of(struct ehframe_builder *b, int32_t depth)
{
	struct ehframe_rule r = { .cfa = EHFRAME_CFA_SP,
				  .cfa_off = depth + 8,
				  .ra = EHFRAME_RA_CFA,
				  .ra_off = -1,
				  .fp = EHFRAME_FP_SAME };

	if (depth < 0 || depth > FRAME_MAX || depth % 8)
		return EHFRAME_RULE_NONE;
	if (depth) { /* right below the return address */
		r.fp = EHFRAME_FP_CFA;
		r.fp_off = -2;
	}
	return ehframe_rule_id(b, &r);
}

static bool ehframe_go_is_named(const struct go *g, size_t at, const char *want)
{
	uint32_t off = u32_at(g->data + at + 4);
	size_t n = strlen(want) + 1;

	return g->names < g->size && off < g->size - g->names && n <= g->size - g->names - off &&
	       memcmp(g->data + g->names + off, want, n) == 0;
}

/* Of a function whose description is at at; false when nothing is special about it. */
static bool special_rule(struct ehframe_builder *b, const struct go *g, size_t at, uint64_t start,
			 uint64_t end, uint32_t *rule)
{
	static const struct ehframe_rule elsewhere = { .cfa = EHFRAME_CFA_FP,
						       .cfa_off = 16,
						       .ra = EHFRAME_RA_CFA | EHFRAME_RA_SWITCH,
						       .ra_off = -1,
						       .fp = EHFRAME_FP_CFA,
						       .fp_off = -2 };
	uint8_t flags = g->data[at + g->flag];

	/* Go's own stacks begin with a handler, but there is what the signal interrupted */
	if ((flags & FLAG_TOP) && !ehframe_go_is_named(g, at, "runtime.sigtramp")) {
		*rule = EHFRAME_RULE_BOTTOM;
		return true;
	}
	if (flags & FLAG_WRITES_SP) {
		*rule = ehframe_go_is_named(g, at, "runtime.mcall") ||
					ehframe_go_is_named(g, at, "runtime.gogo")
				? EHFRAME_RULE_BOTTOM
				: ehframe_rule_id(b, &elsewhere);
		return true;
	}
	return end - start <= SIGNAL_CODE_MAX && ehframe_code_signal(b, start, rule);
}

/* Where a function is described; 0 when that is not in the table. */
static size_t description_of(const struct go *g, uint64_t i)
{
	uint64_t at = g->functab + u32_at(g->data + g->functab + i * 8 + 4);

	return at > g->size || g->size - at < g->flag + 1 ? 0 : at;
}

/* One function's rows, [start, end) in the file. */
static void function_rows(struct ehframe_builder *b, const struct go *g, uint64_t i, uint64_t start,
			  uint64_t end)
{
	size_t at = description_of(g, i);
	const uint8_t *p, *stop = g->data + g->size;
	uint64_t pc = start;
	int32_t depth = -1;
	uint32_t rule;

	if (!at)
		return;
	if (special_rule(b, g, at, start, end, &rule)) {
		ehframe_emit(b, start, rule);
		return;
	}
	if (u32_at(g->data + at + 16) >= g->size - g->pctab)
		return;
	p = g->data + g->pctab + u32_at(g->data + at + 16);
	while (pc < end) {
		uint32_t value, step;

		if (!varint(&p, stop, &value) || (!value && pc != start) ||
		    !varint(&p, stop, &step))
			break;
		depth += (int32_t)(value & 1 ? ~(value >> 1) : value >> 1);
		ehframe_emit(b, pc, rule_of(b, depth));
		if (!step || step > end - pc)
			break;
		pc += step;
	}
}

bool ehframe_go_has(const struct ehframe *f)
{
	struct go g;

	return open_tables(f, &g);
}

/* The first function at or behind an offset. */
static uint64_t first_from(const struct go *g, uint64_t text, uint64_t start)
{
	return SORT_FIND(g->n, i, text + entry_of(g, i) < start);
}

bool ehframe_go_special(struct ehframe_builder *b, uint64_t start, uint64_t end, uint32_t *rule)
{
	uint64_t text, i;
	size_t at;
	struct go g;

	if (!open_tables(b->f, &g) || !ehframe_offset(b->f, g.text, &text))
		return false;
	i = first_from(&g, text, start);
	if (i >= g.n || text + entry_of(&g, i) != start)
		return false;
	at = description_of(&g, i);
	return at && special_rule(b, &g, at, start, end, rule);
}

bool ehframe_go_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	uint64_t text, lo, entry;
	bool any = false;
	struct go g;

	if (!open_tables(b->f, &g) || !ehframe_offset(b->f, g.text, &text))
		return false;
	lo = first_from(&g, text, start);
	for (; lo < g.n && (entry = text + entry_of(&g, lo)) < end; lo++) {
		uint64_t next = text + entry_of(&g, lo + 1);

		if (next <= entry || next > end)
			next = end;
		/* what is not understood must not look like the function before it */
		ehframe_emit(b, entry, EHFRAME_RULE_NONE);
		function_rows(b, &g, lo, entry, next);
		any = true;
	}
	if (any)
		ehframe_emit(b, end, EHFRAME_RULE_NONE);
	return any;
}
