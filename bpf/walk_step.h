/* SPDX-License-Identifier: MIT */
/*
 * From one frame to its caller: mapping, table, row, rule, registers.
 */
#ifndef KYMO_BPF_WALK_STEP_H
#define KYMO_BPF_WALK_STEP_H

#include "walk_maps.h"

#define END(why)                  \
	({                        \
		s->rec.end = why; \
		1;                \
	})

/*
 * All ones where a - b is below zero, else 0. The searches choose by it and not by a branch: a
 * branch in a loop makes the verifier go through all that follows twice.
 */
static __always_inline __u64 mask_less(__u64 a, __u64 b)
{
	__s64 mask = a - b;

	asm volatile("" : "+r"(mask)); /* or the compiler makes a branch of it */
	mask >>= 63;
	asm volatile("" : "+r"(mask));
	return mask;
}

/*
 * The last of n mappings from first on that starts at or before pc. Global, with
 * numbers in and out, so that it is verified once and by itself.
 */
__noinline __u32 search_maps(__u32 first, __u32 n, __u64 pc)
{
	__u64 lo = first, hi = lo + n, less;
	struct walk_map *m;
	__u32 at;

	for (int i = 0; i < WALK_MAPS_SHIFT; i++) {
		if (lo >= hi)
			break;
		at = (lo + hi) >> 1;
		m = bpf_map_lookup_elem(&maps, &at);
		if (!m)
			break;
		/* Halves, for the vsyscall page is in the upper half; starts are even. */
		less = mask_less(pc >> 1, m->start >> 1);
		lo = (lo & less) | ((at + 1ull) & ~less);
		hi = (hi & ~less) | (at & less);
	}
	return lo - 1;
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
	if (!m || pc < m->start || pc >= m->end || m->tgid != (__u32)s->tgid)
		return false;
	s->map_start = m->start;
	s->map_end = m->end;
	s->map_pgoff = m->pgoff;
	s->map_table = m->table;
	s->has_map = 1;
	return true;
}

/* A word of a slab, which cannot be NULL for what user space wrote; the verifier must see that
 * said. */
#define SLAB_WORD(slab, at, word)                                           \
	do {                                                                \
		__u32 block_ = (at) >> 4;                                   \
		struct walk_block *b_ = bpf_map_lookup_elem(slab, &block_); \
		if (!b_)                                                    \
			goto broken;                                        \
		s->slot = (at);                                             \
		word = b_->w[s->slot & 15];                                 \
	} while (0)

#define FOUND_NONE -1
#define FOUND_PENDING -2
#define FOUND_BROKEN -3

/*
 * The number of the rule for an offset in a file, or FOUND_*. Global, with
 * numbers in and out, as above.
 */
__noinline int find_rule(struct state *s, __u32 table, __u64 off)
{
	__u32 chunk = off >> EHFRAME_CHUNK_SHIFT, want, word, at;
	__u64 lo, hi, less;
	struct walk_table *t = bpf_map_lookup_elem(&tables, &table);
	void *slab;

	if (!s)
		return FOUND_BROKEN;
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
	slab = bpf_map_lookup_elem(&slabs, &word);
	if (!slab)
		goto broken;
	at = t->index + chunk;
	SLAB_WORD(slab, at, word);
	lo = t->rows + WALK_INDEX_FIRST(word);
	hi = lo + WALK_INDEX_N(word);
	want = EHFRAME_ROW(off, 0xffff);
	for (int i = 0; i < EHFRAME_CHUNK_SHIFT + 1; i++) {
		if (lo >= hi)
			break;
		at = (lo + hi) >> 1;
		SLAB_WORD(slab, at, word);
		less = mask_less(want, word);
		lo = (lo & less) | ((at + 1ull) & ~less);
		hi = (hi & ~less) | (at & less);
	}
	/* The row before the chunk's first is in force at its start. */
	at = lo - 1;
	SLAB_WORD(slab, at, word);
	return EHFRAME_ROW_RULE(word);
broken:
	return FOUND_BROKEN;
}

static __always_inline bool read_user(__u64 addr, __u64 *ret)
{
	return bpf_probe_read_user(ret, 8, (void *)addr) == 0;
}

/* A register of the innermost frame; only there are all known. */
static __always_inline bool innermost(struct state *s, __u32 reg, __u64 *ret)
{
	if (s->rec.n_user != 1 || reg >= REGS)
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
	v[1] &= config.ra_mask;
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

/* The CFA; UNWIND_NONE, or why not. */
static __always_inline __u32 rule_cfa(struct state *s, struct ehframe_rule *r, __u64 *cfa)
{
	__u64 base;

#if !defined(__TARGET_ARCH_x86)
	/*
	 * After a frame pointer step the stack pointer is not known, but a function that saves
	 * the frame pointer lets it point to where it is saved.
	 */
	if (!s->sp_known && r->cfa != EHFRAME_CFA_FP && r->cfa != EHFRAME_CFA_DEREF_FP) {
		if (r->fp != EHFRAME_FP_CFA)
			return UNWIND_NO_REGISTER;
		*cfa = s->fp - 8 * (__s64)r->fp_off;
		return UNWIND_NONE;
	}
#endif
	switch (r->cfa) {
	case EHFRAME_CFA_SP: *cfa = s->sp + (__s64)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_FP: *cfa = s->fp + (__s64)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_PLT:
		*cfa = s->sp + (__s64)r->cfa_off + ((s->ip & 15) >= (__u64)r->extra ? 8 : 0);
		return UNWIND_NONE;
	case EHFRAME_CFA_DEREF_SP:
	case EHFRAME_CFA_DEREF_FP:
		base = r->cfa == EHFRAME_CFA_DEREF_SP ? s->sp : s->fp;
		if (!read_user(base + (__s64)r->cfa_off, &base))
			return UNWIND_BAD_ADDRESS;
		*cfa = base + 8 * (__u64)(__u8)r->extra;
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
		*cfa = base + (__s64)r->cfa_off;
		return UNWIND_NONE;
	}
	return UNWIND_NEEDS_FULL;
}

/* The caller's frame pointer, or 0 when it is lost. */
static __always_inline __u64 rule_fp(struct state *s, struct ehframe_rule *r, __u64 cfa)
{
	__u64 at = cfa, fp;

	if (r->fp == EHFRAME_FP_SAME)
		return s->fp;
	if (r->fp == EHFRAME_FP_UNDEF)
		return 0;
	if (r->fp == EHFRAME_FP_SP)
		at = s->sp;
	else if (r->fp == EHFRAME_FP_FP) {
		if (s->fp < s->sp || s->fp >= cfa)
			return s->fp;
		at = s->fp;
	}
	return read_user(at + 8 * (__s64)r->fp_off, &fp) ? fp : 0;
}

/* By any rule. Global, to be verified once and by itself, as find_rule. */
__noinline int step_rule(struct state *s, __u32 number)
{
	struct rule_slot *slot = bpf_map_lookup_elem(&rules, &number);
	struct ehframe_rule *r;
	__u64 cfa, fp, ip, ra_at;
	__u8 ra, signal;
	__u32 end;

	if (!s)
		return 1;
	if (!slot)
		return END(UNWIND_BAD_TABLE);
	r = &slot->rule;
	if (r->cfa == EHFRAME_CFA_BOTTOM)
		return END(UNWIND_BOTTOM);
	if (r->cfa == EHFRAME_CFA_NONE)
		return step_fp(s);
	ra = r->ra & EHFRAME_RA_MASK;
	signal = r->ra & EHFRAME_RA_SIGNAL;
	end = rule_cfa(s, r, &cfa);
	if (end != UNWIND_NONE)
		return END(end);
	if (!signal && (cfa < s->sp || (cfa == s->sp && ra != EHFRAME_RA_REG)))
		return END(UNWIND_NO_PROGRESS);
	fp = rule_fp(s, r, cfa);
	if (ra == EHFRAME_RA_REG) {
#if defined(__TARGET_ARCH_x86)
		if (!innermost(s, (__u16)r->ra_off, &ip))
			return END(UNWIND_NO_REGISTER);
#else
		if (r->ra_off != REG_LR || !s->extra_known)
			return END(UNWIND_NO_REGISTER);
		ip = s->extra;
#endif
		s->extra_known = 0;
	} else {
		ra_at = ra == EHFRAME_RA_BX
				? cfa - 8
				: (ra == EHFRAME_RA_CFA ? cfa : s->sp) + 8 * (__s64)r->ra_off;
		if (!read_user(ra_at, &ip))
			return END(UNWIND_BAD_ADDRESS);
#if defined(__TARGET_ARCH_x86)
		if (ra != EHFRAME_RA_BX)
			s->extra_known = 0;
		else if (r->ra_off && !read_user(cfa + 8 * (__s64)r->ra_off, &s->extra))
			s->extra_known = 0;
#else
		s->extra_known = signal && read_user(ra_at - 16, &s->extra);
#endif
	}
	s->fp = fp;
	ip &= config.ra_mask;
	if (!ip)
		return END(UNWIND_BOTTOM);
	s->sp = cfa;
	s->ip = ip;
	s->is_return = !signal;
	s->by_fp = 0;
	s->sp_known = 1;
	if (signal)
		s->rec.unwind |= UNWIND_SIGNAL;
	return 0;
}

/*
 * The rules nearly all frames have: the CFA from the stack or frame pointer, the
 * return address below it, the frame pointer untouched or beside it. -1 for any
 * other.
 */
static __always_inline int step_usual(struct state *s, struct ehframe_rule *r)
{
	__u64 cfa, v[2];

	if (r->ra != EHFRAME_RA_CFA)
		return -1;
#if !defined(__TARGET_ARCH_x86)
	if (!s->sp_known)
		return -1;
#endif
	if (r->cfa == EHFRAME_CFA_SP)
		cfa = s->sp;
	else if (r->cfa == EHFRAME_CFA_FP)
		cfa = s->fp;
	else
		return -1;
	cfa += (__s64)r->cfa_off;
	if (cfa <= s->sp)
		return END(UNWIND_NO_PROGRESS);
	if (r->fp == EHFRAME_FP_SAME) {
		if (!read_user(cfa + 8 * (__s64)r->ra_off, &v[1]))
			return END(UNWIND_BAD_ADDRESS);
	} else if (r->fp == EHFRAME_FP_CFA && r->fp_off == r->ra_off - 1) {
		if (bpf_probe_read_user(v, 16, (void *)(cfa + 8 * (__s64)r->fp_off)))
			return END(UNWIND_BAD_ADDRESS);
		s->fp = v[0];
	} else {
		return -1;
	}
	v[1] &= config.ra_mask;
	if (!v[1])
		return END(UNWIND_BOTTOM);
	s->sp = cfa;
	s->ip = v[1];
	s->is_return = 1;
	s->by_fp = s->extra_known = 0;
	return 0;
}

struct walk_ctx {
	struct state *s;
};

static long step(__u32 i, struct walk_ctx *w)
{
	struct state *s = w->s;
	struct rule_slot *r;
	__u32 n, key;
	bool known;
	int found;
	__u64 pc;

	n = s->rec.n_user;
	if (n >= config.depth || n >= WALK_DEPTH)
		return END(UNWIND_DEPTH);
	pc = s->ip - s->is_return;
	known = find_map(s, pc);
	/* What a frame pointer led to is believed only if it is code. */
	if (!known && s->by_fp)
		return END(UNWIND_NO_TABLE);
	s->chain[n] = s->ip;
	s->rec.n_user = n + 1;
	s->rec.end_pc = s->ip;
	if (s->by_fp) {
		s->rec.unwind |= UNWIND_USED_FP;
		s->rec.n_fp++;
	}
	if (!known)
		return END(UNWIND_NO_MAP);
	found = find_rule(s, s->map_table, pc - s->map_start + s->map_pgoff);
	if (found == FOUND_PENDING)
		return END(UNWIND_PENDING);
	if (found < FOUND_PENDING)
		return END(UNWIND_BAD_TABLE);
	/*
	 * A return address that no call stands before, but a function starts at, was put there by
	 * whoever made this stack (makecontext): the stack starts here.
	 */
	if (found == EHFRAME_RULE_NONE && s->is_return &&
	    find_rule(s, s->map_table, s->ip - s->map_start + s->map_pgoff) > EHFRAME_RULE_NONE)
		return END(UNWIND_BOTTOM);
	/* Nothing known there is rule 0's meaning, too. */
	key = found < 0 ? EHFRAME_RULE_NONE : found;
	r = bpf_map_lookup_elem(&rules, &key);
	if (!r)
		return END(UNWIND_BAD_TABLE);
	found = step_usual(s, &r->rule);
	if (found < 0)
		found = step_rule(s, key);
	return found ? 1 : 0;
}

#endif
