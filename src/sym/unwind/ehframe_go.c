/* SPDX-License-Identifier: MIT */
/*
 * Rows from Go's own tables, for Go programs without debug info: how far the stack pointer is below
 * its place at a function's entry, by address. Go's compiler saves frame pointers, but not in its
 * innermost functions, so by them alone a caller is missed. x86_64; anything else is left to them.
 *
 * The tables also tell what Go's debug info does not: which functions a stack begins with, and
 * which write the stack pointer themselves. Those change to another stack, and leave the frame
 * pointer as it was: by it the stack goes on where it came from (the goroutine's that called
 * systemstack), but for the function that called them. From mcall nothing goes on: the goroutine
 * was put aside, and may run elsewhere by now.
 */
#include <elf.h>

#include "base/sort.h"
#include "sym/elf/gotab.h"
#include "sym/unwind/ehframe_cfi.h"

#define FLAG_TOP 1
#define FLAG_WRITES_SP 2
#define FRAME_MAX (1 << 30)
#define SIGNAL_CODE_MAX 32 /* what a handler returns to is one system call, with what pads it */

static bool open_tables(const struct ehframe *f, struct gotab *g)
{
	const uint8_t *p = f->go.data;
	uint64_t off;

	if (!p || f->machine != EM_X86_64 || !gotab_open(p, f->go.size, g) || p[6] != 1)
		return false;
	/* in a program that can be loaded anywhere it is filled in by the loader */
	if (!ehframe_offset(f, g->text, &off))
		g->text = f->text;
	return ehframe_offset(f, g->text, &off);
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

static bool ehframe_go_is_named(const struct gotab *g, size_t at, const char *want)
{
	const char *name = gotab_name(g, at);

	return name && strcmp(name, want) == 0;
}

/* Of a function whose description is at at; false when nothing is special about it. */
static bool special_rule(struct ehframe_builder *b, const struct gotab *g, size_t at,
			 uint64_t start, uint64_t end, uint32_t *rule)
{
	static const struct ehframe_rule elsewhere = { .cfa = EHFRAME_CFA_FP,
						       .cfa_off = 16,
						       .ra = EHFRAME_RA_CFA | EHFRAME_RA_SWITCH,
						       .ra_off = -1,
						       .fp = EHFRAME_FP_CFA,
						       .fp_off = -2 };
	uint8_t flags = g->data[at + g->flags];

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

/* One function's rows, [start, end) in the file. */
static void function_rows(struct ehframe_builder *b, const struct gotab *g, uint64_t i,
			  uint64_t start, uint64_t end)
{
	size_t at = gotab_description(g, i, g->flags + 1);
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
	if (bytes_at32(g->data + at + 16) >= g->size - g->pctab)
		return;
	p = g->data + g->pctab + bytes_at32(g->data + at + 16);
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
	struct gotab g;

	return open_tables(f, &g);
}

/* The first function at or behind an offset. */
static uint64_t first_from(const struct gotab *g, uint64_t text, uint64_t start)
{
	return SORT_FIND(g->n, i, text + gotab_entry(g, i) < start);
}

bool ehframe_go_special(struct ehframe_builder *b, uint64_t start, uint64_t end, uint32_t *rule)
{
	uint64_t text, i;
	size_t at;
	struct gotab g;

	if (!open_tables(b->f, &g) || !ehframe_offset(b->f, g.text, &text))
		return false;
	i = first_from(&g, text, start);
	if (i >= g.n || text + gotab_entry(&g, i) != start)
		return false;
	at = gotab_description(&g, i, g.flags + 1);
	return at && special_rule(b, &g, at, start, end, rule);
}

bool ehframe_go_gap(struct ehframe_builder *b, uint64_t start, uint64_t end)
{
	uint64_t text, lo, entry;
	bool any = false;
	struct gotab g;

	if (!open_tables(b->f, &g) || !ehframe_offset(b->f, g.text, &text))
		return false;
	lo = first_from(&g, text, start);
	for (; lo < g.n && (entry = text + gotab_entry(&g, lo)) < end; lo++) {
		uint64_t next = text + gotab_entry(&g, lo + 1);

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
