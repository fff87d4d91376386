/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of a thread's last walk. From one sample to the next most of the outer frames
 * are the same calls still going on, and need no look at the tables.
 *
 * What is kept is facts: a frame of this address, stack and frame pointer has, by the tables of
 * this generation, its return address at that place of the stack, and its caller's frame pointer
 * beside it or untouched. So a walk that comes to a frame with the same three registers reads
 * that place; if the same address is there, its caller is the one remembered, registers and all.
 * The first that differs is walked by the tables again. Nothing is believed that was not read, so
 * the walk is the same as without.
 *
 * Frames lie outermost first: the stack's bottom stays, its top is replaced.
 */
#ifndef KYMO_BPF_WALK_MEMO_H
#define KYMO_BPF_WALK_MEMO_H

#include "walk_maps.h"

#define SP_NONE (~0ull)
#define FRAME_SP(f) ((f)->where >> 16)

/*
 * Read words of the stack, and those above them as far as is known that there are some. Global, to
 * be verified once. 0 when at least the first ones are there.
 */
__noinline int stack_fill(struct state *s, __u64 place, __u32 last)
{
	__u64 size, need = 8 * (last & 7) + 8;

	if (!s)
		return 1;
	size = s->limit - place;
	if (size > STACK_WINDOW)
		size = s->limit > place ? STACK_WINDOW : need;
	if (size < need)
		size = need;
	s->base = place;
	s->size = 0;
	if (bpf_probe_read_user(s->window, size, (void *)place)) {
		s->limit = 0;
		size = need;
		if (bpf_probe_read_user(s->window, size, (void *)place))
			return 1;
	}
	s->size = size;
	return 0;
}

/* Where in the window the words of the stack from place on are, of which there are last + 1. */
static __always_inline bool stack_words(struct state *s, __u64 place, __u32 last, __u64 *ret)
{
	__u64 off = place - s->base, beyond = s->size - 8 * last - 1 - off;

	/* One branch instead of three, as in mask_less. */
	beyond = (off | beyond) >> 63 | (off & 7);
	asm volatile("" : "+r"(beyond));
	if (beyond) {
		if (stack_fill(s, place, last))
			return false;
		off = 0;
	}
	*ret = (off >> 3) & (STACK_WINDOW / 8 - 1);
	return true;
}

static __always_inline struct walk_memo *memo_of(struct state *s)
{
	return &s->memo[s->rec.tid & (MEMO_THREADS - 1)];
}

/* Before a walk: is there something to recall? */
static __always_inline void memo_open(struct state *s, __u32 generation)
{
	struct walk_memo *m = memo_of(s);

	s->fresh_n = s->kept = s->left = 0;
	s->top = SP_NONE;
	s->way = WALK_WAY_NONE;
	s->outermost = s->recalled = 0;
	s->size = s->limit = 0;
	s->owner = s->busy;
	s->generation = s->anew ? 0 : generation;
	s->whose = (__u64)s->rec.tid << 32 | generation;
	if (!config.memo || !s->generation || m->whose != s->whose)
		return;
	s->left = m->n;
	s->limit = FRAME_SP(&m->frame[0]); /* so far it was read before */
	s->top = FRAME_SP(&m->frame[(m->n - 1) & (MEMO_FRAMES - 1)]);
}

struct memo_ctx {
	struct state *s;
	struct walk_memo *m;
};

/* Frames that have returned. */
static long memo_pop(__u32 i, struct memo_ctx *c)
{
	struct state *s = c->s;
	__u32 left = s->left - 1;

	s->top = SP_NONE;
	if (left >= MEMO_FRAMES)
		return 1;
	s->top = FRAME_SP(&c->m->frame[left]);
	if (s->top >= s->sp)
		return 1;
	s->left = left;
	return 0;
}

/* From the frame the walk is at to its caller, if that still is the one remembered. */
static long memo_next(__u32 i, struct memo_ctx *c)
{
	struct state *s = c->s;
	__u32 n = s->rec.n_user, at = s->left - 1, q, last;
	struct memo_frame *f;
	__u64 sp, off;

	if (at >= MEMO_FRAMES || n >= config.depth || n >= WALK_DEPTH)
		return 1;
	f = &c->m->frame[at];
	q = f->where;
	sp = FRAME_SP(f);
	if (WALK_QUICK_WAY(q) != WALK_WAY_USUAL || (WALK_QUICK_FROM_FP(q) && s->fp != sp - 16))
		return 1;
	last = WALK_QUICK_LAST(q);
	if (!stack_words(s, sp + 8 * WALK_QUICK_OFFSET(q), last, &off) ||
	    (s->window[off + last] & config.ra_mask) != f->ip)
		return 1;
	if (last)
		s->fp = s->window[off];
	s->chain[n] = s->ip;
	s->rec.n_user = n + 1;
	s->ip = f->ip;
	s->left = at;
	return 0;
}

/*
 * The walk has come to a frame that may be remembered. If it is, the walk goes on as far as memory
 * leads, to a frame that is left to the tables. 1 when it has ended. Global, to be verified once.
 */
__noinline int memo_recall(struct state *s)
{
	struct memo_ctx c = { .s = s };
	__u32 at, n;

	if (!s)
		return 1;
	c.m = memo_of(s);
	if (s->top < s->sp) {
		bpf_loop(MEMO_FRAMES, memo_pop, &c, 0);
		if (s->kept) /* what was recalled leads elsewhere now */
			s->kept = s->fresh_n = 0;
	}
	at = s->left - 1;
	if (at >= MEMO_FRAMES || s->top != s->sp || !s->way)
		return 0;
	if (c.m->frame[at].ip != s->ip)
		return 0;
	if (!s->kept)
		s->kept = s->left;
	c.m->frame[at].where = s->sp << 16 | s->way; /* it may be called by another way now */
	s->left = at;
	s->recalled = 1;
	n = s->rec.n_user;
	bpf_loop(MEMO_FRAMES, memo_next, &c, 0);
	s->rec.n_known += s->rec.n_user - n;
	at = s->left;
	s->sp = FRAME_SP(&c.m->frame[at & (MEMO_FRAMES - 1)]);
	s->way = WALK_WAY_PLAIN;
	s->top = at ? FRAME_SP(&c.m->frame[(at - 1) & (MEMO_FRAMES - 1)]) : SP_NONE;
	n = s->rec.n_user;
	if (at || !c.m->end || n >= config.depth || n >= WALK_DEPTH)
		return 0;
	s->chain[n] = s->rec.end_pc = s->ip;
	s->rec.n_user = n + 1;
	s->rec.end = UNWIND_BOTTOM;
	return 1;
}

/* A frame that was found by the tables. */
static __always_inline void memo_add(struct state *s)
{
	struct memo_frame *f;

	if (!config.memo)
		return;
	if (s->recalled) {
		s->recalled = 0;
		return;
	}
	if (s->kept || !s->way)
		s->kept = s->fresh_n = 0;
	if (!s->way)
		return;
	f = &s->fresh[s->fresh_n & (MEMO_FRAMES - 1)];
	f->where = s->sp << 16 | s->way;
	f->ip = s->ip;
	s->fresh_n++;
}

static long memo_push(__u32 i, struct memo_ctx *c)
{
	struct state *s = c->s;
	__u32 to = s->kept, from = s->fresh_n - 1;

	if (to >= MEMO_FRAMES || !s->fresh_n)
		return 1;
	c->m->frame[to] = s->fresh[from & (MEMO_FRAMES - 1)];
	s->kept = to + 1;
	s->fresh_n = from;
	return 0;
}

/* After a walk. */
__noinline int memo_keep(struct state *s)
{
	struct memo_ctx c = { .s = s };

	if (!s || !s->generation)
		return 1;
	c.m = memo_of(s);
	c.m->whose = 0;
	if (s->owner != s->busy) /* another walk came in between (walk_fn.h) */
		return 1;
	if (!s->kept)
		c.m->end = s->outermost;
	bpf_loop(MEMO_FRAMES, memo_push, &c, 0);
	c.m->n = s->kept;
	if (s->kept)
		c.m->whose = s->whose;
	return 0;
}

#endif
