/* SPDX-License-Identifier: MIT */
/*
 * From one frame to its caller: mapping, table, row, rule, registers.
 */
#pragma once

#include "walk_stack.h"

#define END(why)                  \
	({                        \
		s->rec.end = why; \
		1;                \
	})

/*
 * All ones where a - b is below zero, else 0. The searches choose by it and not by a branch, which
 * no processor could foresee.
 */
static __always_inline __u64 mask_less(__u64 a, __u64 b)
{
	__s64 mask = a - b;

	asm volatile("" : "+r"(mask)); /* or the compiler makes a branch of it */
	mask >>= 63;
	asm volatile("" : "+r"(mask));
	return mask;
}

/* A binary search; its steps are a loop's callback, which is verified once. */
struct search_ctx {
	__u64 want, lo, hi;
	void *slab;
};

static long search_map(__u32 i, struct search_ctx *c)
{
	__u32 at = (c->lo + c->hi) >> 1;
	struct walk_map *m = bpf_map_lookup_elem(&maps, &at);
	__u64 less;

	if (!m || c->lo >= c->hi)
		return 1;
	/* Halves, for the vsyscall page is in the upper half; starts are even. */
	less = mask_less(c->want, m->start >> 1);
	c->lo = (c->lo & less) | ((at + 1ull) & ~less);
	c->hi = (c->hi & ~less) | (at & less);
	return 0;
}

/*
 * The last of n mappings from first on that starts at or before pc. Global, with
 * numbers in and out, so that it is verified once and by itself.
 */
__noinline __u32 search_maps(__u32 first, __u32 n, __u64 pc)
{
	struct search_ctx c = { .want = pc >> 1, .lo = first, .hi = (__u64)first + n };

	bpf_loop(WALK_MAPS_SHIFT, search_map, &c, 0);
	return c.lo - 1;
}

/* The mapping that holds pc, into s->map_*. */
static __always_inline bool find_map(struct state *s, __u64 pc)
{
	struct walk_map *m;
	__u32 at;

	if (s->has_map && pc >= s->map_start && pc < s->map_end)
		return true;
	at = search_maps(s->first, s->n_maps, pc);
	m = bpf_map_lookup_elem(&maps, &at);
	/* The list may be empty, or have become another's: the entry itself tells. */
	if (!m || pc < m->start || pc >= m->end || m->generation != s->list_generation)
		return false;
	s->map_start = m->start;
	s->map_end = m->end;
	s->map_pgoff = m->pgoff;
	s->map_table = m->table;
	s->map_generation = s->generation;
	s->has_map = 1;
	return true;
}

#define FOUND_NONE -1
#define FOUND_PENDING -2
#define FOUND_BROKEN -3

static long search_row(__u32 i, struct search_ctx *c)
{
	__u32 at = (c->lo + c->hi) >> 1, block = at >> 4;
	struct walk_block *b = bpf_map_lookup_elem(c->slab, &block);
	__u64 less;

	if (!b || c->lo >= c->hi)
		return 1;
	less = mask_less(c->want, b->w[at & 15]);
	c->lo = (c->lo & less) | ((at + 1ull) & ~less);
	c->hi = (c->hi & ~less) | (at & less);
	return 0;
}

/*
 * The number of the rule for an offset in a file, or FOUND_*. Global, with
 * numbers in and out, as above.
 */
__noinline int find_rule(__u32 table, __u64 off)
{
	__u32 chunk = off >> EHFRAME_CHUNK_SHIFT, word, at;
	struct walk_table *t = bpf_map_lookup_elem(&tables, &table);
	struct search_ctx c = { .want = EHFRAME_ROW(off, 0xffff) };
	struct walk_block *b;

	if (t && t->kind == WALK_TABLE_PARTS) {
		table = t->sub + ((chunk - t->base) >> (t->shift & 31));
		t = bpf_map_lookup_elem(&tables, &table);
	}
	if (!t || t->kind != WALK_TABLE_READY)
		return t && t->kind == WALK_TABLE_PENDING ? FOUND_PENDING : FOUND_NONE;
	chunk -= t->base;
	if (chunk >= t->n)
		return FOUND_NONE;
	word = t->slab;
	c.slab = bpf_map_lookup_elem(&slabs, &word);
	if (!c.slab)
		return FOUND_BROKEN;
	at = t->index + chunk;
	word = at >> 4;
	b = bpf_map_lookup_elem(c.slab, &word);
	if (!b)
		return FOUND_BROKEN;
	word = b->w[at & 15];
	if (word & WALK_INDEX_RULE)
		return EHFRAME_ROW_RULE(word);
	c.lo = t->rows + WALK_INDEX_FIRST(word);
	c.hi = c.lo + WALK_INDEX_N(word);
	bpf_loop(EHFRAME_CHUNK_SHIFT + 1, search_row, &c, 0);
	/* The row before the chunk's first is in force at its start. */
	at = c.lo - 1;
	word = at >> 4;
	b = bpf_map_lookup_elem(c.slab, &word);
	return b ? EHFRAME_ROW_RULE(b->w[at & 15]) : FOUND_BROKEN;
}

/*
 * What was found of an address is kept by a number made of it, of whose it is and of whether it is
 * one to return to (which is asked about one byte before). The number's upper bits tell the place;
 * the word that is there has its lower 48 and the rule's number. With four bits in neither, one
 * look in 2^48 at a place that is another's takes it for its own.
 */
#define RECENT(s, ip, is_return)                                                               \
	(((ip) + ((__u64)((is_return) ^ 1) << 63) + (s)->generation * 0xd1342543de82ef95ull) * \
	 0x9e3779b97f4a7c15ull)
#define RECENT_PLACE(number) ((number) >> (64 - RECENTS_SHIFT))
#define RECENT_WORD(number, rule) ((number) << 16 ^ (rule))

/* The rule's number; of more than 16 bits when it is not known. */
static __always_inline __u64 recall(struct state *s)
{
	__u64 number = RECENT(s, s->ip, s->is_return);

	return RECENT_WORD(number, s->recent[RECENT_PLACE(number)]);
}

static __always_inline bool read_user(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, 8, (void *)addr) == 0;
}

/* A register of the innermost frame; only there are all known. */
static __always_inline bool innermost(struct state *s, __u32 reg, __u64 *ret)
{
	if (s->n != 1 || reg >= REGS)
		return false;
	*ret = s->r[reg];
	return true;
}

static __always_inline long step_fp(struct state *s)
{
	__u64 v[2];

	if (!s->fp)
		return END(s->by_fp ? UNWIND_BOTTOM : UNWIND_NO_TABLE);
	if (s->fp < s->sp || (s->fp & 7) || bpf_probe_read_user(v, 16, (void *)s->fp))
		return END(UNWIND_NO_TABLE);
	v[1] &= RA_MASK;
	if (!v[1])
		return END(UNWIND_BOTTOM);
	s->sp = s->fp + 16;
	s->fp = v[0];
	s->ip = v[1];
	s->is_return = 1;
	s->by_fp = 1;
	s->extra_known = 0;
#if !defined(__TARGET_ARCH_x86)
	s->sp_known = 0; /* a frame record does not tell it */
#endif
	return 0;
}

/*
 * Any rule, in a few functions. Global each, as find_rule: else the verifier goes through every way
 * to the return address for every way to the CFA.
 */

/* The CFA, into s->cfa; UNWIND_NONE, or why not. */
__noinline int rule_cfa(struct state *s)
{
	struct ehframe_rule *r;
	__u64 base;

	if (!s)
		return UNWIND_BAD_TABLE;
	r = &s->rule;
#if !defined(__TARGET_ARCH_x86)
	/*
	 * After a frame pointer step the stack pointer is not known, but a function that saves
	 * the frame pointer lets it point to where it is saved.
	 */
	if (!s->sp_known && r->cfa != EHFRAME_CFA_FP && r->cfa != EHFRAME_CFA_DEREF_FP) {
		if (r->fp != EHFRAME_FP_CFA)
			return UNWIND_NO_REGISTER;
		s->cfa = s->fp - 8 * (__s64)r->fp_off;
		return UNWIND_NONE;
	}
#endif
	switch (r->cfa) {
	case EHFRAME_CFA_SP: s->cfa = s->sp + (__s64)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_FP: s->cfa = s->fp + (__s64)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_PLT:
		s->cfa = s->sp + (__s64)r->cfa_off + ((s->ip & 15) >= (__u64)r->extra ? 8 : 0);
		return UNWIND_NONE;
	case EHFRAME_CFA_DEREF_SP:
	case EHFRAME_CFA_DEREF_FP:
		base = r->cfa == EHFRAME_CFA_DEREF_SP ? s->sp : s->fp;
		if (!read_user(base + (__s64)r->cfa_off, &base))
			return UNWIND_BAD_ADDRESS;
		s->cfa = base + 8 * (__u64)(__u8)r->extra;
		return UNWIND_NONE;
	case EHFRAME_CFA_REG:
		if (!innermost(s, (__u8)r->extra, &base)) {
#if defined(__TARGET_ARCH_x86)
			if (r->extra != EHFRAME_X86_BX || !s->extra_known)
				return UNWIND_NO_REGISTER;
			base = s->extra;
#else
			return UNWIND_NO_REGISTER;
#endif
		}
		s->cfa = base + (__s64)r->cfa_off;
		return UNWIND_NONE;
	}
	return UNWIND_NEEDS_FULL;
}

/* The caller's frame pointer, or 0 when it is lost. */
__noinline __u64 rule_fp(struct state *s)
{
	struct ehframe_rule *r;
	__u64 at, fp;

	if (!s)
		return 0;
	r = &s->rule;
	at = s->cfa;
	if (r->fp == EHFRAME_FP_SAME)
		return s->fp;
	if (r->fp == EHFRAME_FP_UNDEF)
		return 0;
	if (r->fp == EHFRAME_FP_SP)
		at = s->sp;
	else if (r->fp == EHFRAME_FP_FP) {
		if (s->fp < s->sp || s->fp >= s->cfa)
			return s->fp;
		at = s->fp;
	}
	return read_user(at + 8 * (__s64)r->fp_off, &fp) ? fp : 0;
}

/* The return address, into s->next; UNWIND_NONE, or why not. */
__noinline int rule_ra(struct state *s)
{
	struct ehframe_rule *r;
	__u64 at;
	__u8 ra;

	if (!s)
		return UNWIND_BAD_TABLE;
	r = &s->rule;
	ra = r->ra & EHFRAME_RA_MASK;
	if (ra == EHFRAME_RA_REG) {
#if defined(__TARGET_ARCH_x86)
		if (!innermost(s, (__u16)r->ra_off, &s->next))
			return UNWIND_NO_REGISTER;
#else
		if (r->ra_off != REG_LR || !s->extra_known)
			return UNWIND_NO_REGISTER;
		s->next = s->extra;
#endif
		s->extra_known = 0;
		return UNWIND_NONE;
	}
	at = ra == EHFRAME_RA_BX ? s->cfa - 8
				 : (ra == EHFRAME_RA_CFA ? s->cfa : s->sp) + 8 * (__s64)r->ra_off;
	if (!read_user(at, &s->next))
		return UNWIND_BAD_ADDRESS;
#if defined(__TARGET_ARCH_x86)
	if (ra != EHFRAME_RA_BX)
		s->extra_known = 0;
	else if (r->ra_off && !read_user(s->cfa + 8 * (__s64)r->ra_off, &s->extra))
		s->extra_known = 0;
#else
	s->extra_known = (r->ra & EHFRAME_RA_SIGNAL) && read_user(at - 16, &s->extra);
#endif
	return UNWIND_NONE;
}

/* All of rule s->found, into s->rule. */
static __always_inline bool take_rule(struct state *s)
{
	__u32 found = s->found;
	struct walk_rule *r;

	if (found & WALK_DIRECT) {
		walk_direct_rule(found, &s->rule);
		return true;
	}
	r = bpf_map_lookup_elem(&rules, &found);
	if (!r)
		return false;
	s->rule = r->rule;
	return true;
}

/* By any rule, which is s->found. */
__noinline int step_rule(struct state *s)
{
	__u32 end, signal, elsewhere;
	__u64 fp;

	if (!s)
		return 1;
	if (!take_rule(s))
		return END(UNWIND_BAD_TABLE);
	if (s->rule.cfa == EHFRAME_CFA_NONE)
		return step_fp(s);
	signal = s->rule.ra & EHFRAME_RA_SIGNAL;
	elsewhere = s->rule.ra & (EHFRAME_RA_SIGNAL | EHFRAME_RA_SWITCH);
	end = rule_cfa(s);
	if (end != UNWIND_NONE)
		return END(end);
	if (!elsewhere && (s->cfa < s->sp || (s->cfa == s->sp && s->rule.ra != EHFRAME_RA_REG)))
		return END(UNWIND_NO_PROGRESS);
	fp = rule_fp(s);
	end = rule_ra(s);
	if (end != UNWIND_NONE)
		return END(end);
	s->fp = fp;
	s->next &= RA_MASK;
	if (!s->next)
		return END(UNWIND_BOTTOM);
	s->sp = s->cfa;
	s->ip = s->next;
	s->is_return = !signal;
	s->by_fp = 0;
	s->sp_known = 1;
	if (signal)
		s->rec.unwind |= UNWIND_SIGNAL;
	return 0;
}

/* By a rule that its number says: whether all was as usual. */
static __always_inline bool step_direct(struct state *s, __u32 d)
{
	__u32 last = WALK_DIRECT_LAST(d);
	__u64 place = WALK_DIRECT_FROM_FP(d) ? s->fp : s->sp, cfa, ip, off;

	cfa = place + 8 * WALK_DIRECT_CFA(d);
	if (cfa <= s->sp)
		return false;
	if (!WALK_DIRECT_AT_REGISTER(d))
		place = cfa - 8 * last - 8;
	if (!stack_words(s, place, last, &off))
		return false;
	ip = s->window[off + last] & RA_MASK;
	if (!ip)
		return false;
	if (last)
		s->fp = s->window[off];
	s->sp = cfa;
	s->ip = ip;
	return true;
}

/*
 * Ask the tables about ip: a rule's number, or why the walk ends here, an enum unwind_end << 16.
 * Rules are remembered. Global, as find_rule.
 */
__noinline __u32 look_up(struct state *s)
{
	__u64 pc, off, number;
	int found;

	if (!s)
		return 0;
	pc = s->ip - s->is_return;
	if (!find_map(s, pc))
		return UNWIND_NO_MAP << 16;
	off = pc - s->map_start + s->map_pgoff;
	found = find_rule(s->map_table, off);
	if (found == FOUND_PENDING)
		return UNWIND_PENDING << 16;
	if (found < FOUND_PENDING)
		return UNWIND_BAD_TABLE << 16;
	/* Nothing known there is rule 0's meaning, too. */
	if (found < 0)
		return EHFRAME_RULE_NONE;
	/*
	 * A return address that no call stands before, but a function starts at, was put there by
	 * whoever made this stack (makecontext): the stack starts here.
	 */
	if (found == EHFRAME_RULE_NONE && s->is_return &&
	    find_rule(s->map_table, off + 1) > EHFRAME_RULE_NONE)
		return UNWIND_BOTTOM << 16;
	if (!s->generation)
		return found;
	number = RECENT(s, s->ip, s->is_return);
	s->recent[RECENT_PLACE(number)] = RECENT_WORD(number, found);
	return found;
}

struct walk_ctx {
	struct state *s;
};

/* From an address that was looked up before to its caller, by a rule that a number says. */
static long step_known(__u32 i, struct walk_ctx *w)
{
	struct state *s = w->s;
	__u64 ip = s->ip, n = s->n, found = recall(s);

	/* WALK_DIRECT and no more: it is known */
	if (found >> 15 != 1 || n >= WALK_DEPTH || !step_direct(s, found))
		return 1;
	s->is_return = 1;
	asm volatile("" : "+r"(n)); /* Linux 6.1 forgets what was compared when n was put aside */
	s->chain[n & (WALK_DEPTH - 1)] = ip;
	s->n = n + 1;
	return 0;
}

/* From a frame to its caller, whatever its rule is. */
static __always_inline long step_any(struct state *s, __u32 n, __u32 found)
{
	/* What a frame pointer led to is believed only if it is code. */
	if (s->by_fp && found == UNWIND_NO_MAP << 16)
		return END(UNWIND_NO_TABLE);
	s->chain[n] = s->ip;
	s->n = n + 1;
	if (s->by_fp) {
		s->rec.unwind |= UNWIND_USED_FP;
		s->rec.n_fp++;
	}
	if (found == EHFRAME_RULE_BOTTOM)
		return END(UNWIND_BOTTOM);
	if (found >> 16)
		return END(found >> 16);
	s->found = found;
	return step_rule(s) ? 1 : 0;
}

/* Ask the tables about a frame, and go on from there as far as is known; at least to its caller. */
static long step(__u32 i, struct walk_ctx *w)
{
	struct state *s = w->s;
	__u64 known = recall(s);
	__u32 n = s->n, found = known;

	if (n >= config.depth || n >= WALK_DEPTH)
		return END(UNWIND_DEPTH);
	if (known >> 16 || !s->generation)
		found = look_up(s);
	if ((found & WALK_DIRECT) && s->generation && s->sp_known && !s->by_fp) {
		bpf_loop(config.depth - n, step_known, w, 0);
		if (s->n != n) {
			s->extra_known = 0;
			return 0;
		}
	}
	return step_any(s, n, found);
}
