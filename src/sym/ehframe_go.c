/* SPDX-License-Identifier: MIT */
/*
 * Rows from Go's own tables (.gopclntab), for Go programs without debug info:
 * how far the stack pointer is below its place at a function's entry, by address.
 * Go's compiler saves frame pointers, but not in its innermost functions, so by
 * them alone a caller is missed.
 *
 * Tables of Go 1.18 and later on x86_64; anything else, and anything that makes no
 * sense, is left to frame pointers. Functions that write the stack pointer
 * themselves (they change stacks) are, too.
 */
#include <elf.h>
#include <string.h>

#include "sym/ehframe_build.h"

#define GO_118 0xfffffff0u
#define GO_120 0xfffffff1u
#define HEADER 72 /* magic and sizes, then eight words */
#define FLAG_TOP 1
#define FLAG_WRITES_SP 2
#define FRAME_MAX (1 << 30)

struct go {
	const uint8_t *data;
	size_t size;
	uint64_t text;		    /* address that entries count from */
	uint64_t n, pctab, functab; /* functions; where both tables are */
	size_t flag;		    /* where a function's flags are */
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

/* One function's rows, [start, end) in the file. */
static void function_rows(struct ehframe_builder *b, const struct go *g, uint64_t i, uint64_t start,
			  uint64_t end)
{
	uint64_t at = g->functab + u32_at(g->data + g->functab + i * 8 + 4), pc = start;
	const uint8_t *p, *stop = g->data + g->size;
	int32_t depth = -1;
	uint8_t flags;

	if (at > g->size || g->size - at < g->flag + 1)
		return;
	flags = g->data[at + g->flag];
	if (flags & FLAG_TOP) {
		ehframe_emit(b, start, EHFRAME_RULE_BOTTOM);
		return;
	}
	if ((flags & FLAG_WRITES_SP) || u32_at(g->data + at + 16) >= g->size - g->pctab)
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

bool ehframe_go_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	uint64_t text, lo = 0, hi, entry;
	bool any = false;
	struct go g;

	if (!open_tables(b->f, &g) || !ehframe_offset(b->f, g.text, &text))
		return false;
	hi = g.n;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;

		if (text + entry_of(&g, mid) < start)
			lo = mid + 1;
		else
			hi = mid;
	}
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
