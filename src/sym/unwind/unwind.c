/* SPDX-License-Identifier: MIT */
#include "sym/unwind/frame.h"

#include <elf.h>

#include "event/event.h"

/* User space addresses on aarch64 without authentication codes and tags. */
#define ARM64_ADDRESS (((uint64_t)1 << 48) - 1)

/* What compact rows follow. */
struct frame {
	uint64_t ip, sp, fp, lr, bx;
	bool is_return; /* ip is a return address */
	bool bx_known;
	bool lr_known;
	bool sp_known; /* aarch64: a frame pointer step does not tell the stack pointer */
	bool by_fp;    /* found by frame pointer */
};

static const char *const end_names[UNWIND_END_MAX][2] = {
	[UNWIND_NONE] = { "none", "no user stack" },
	[UNWIND_BOTTOM] = { "bottom", "reached the bottom" },
	[UNWIND_DEPTH] = { "depth", "cut: deeper than asked for" },
	[UNWIND_NO_MAP] = { "no-map", "the address is in no known mapping" },
	[UNWIND_NO_TABLE] = { "no-table", "no unwinding information" },
	[UNWIND_PENDING] = { "pending", "its unwinding table was not ready yet" },
	[UNWIND_BAD_ADDRESS] = { "bad-address", "the stack could not be read" },
	[UNWIND_NO_PROGRESS] = { "no-progress", "the frames do not rise" },
	[UNWIND_TRUNCATED] = { "truncated", "the copy of the stack ended" },
	[UNWIND_NEEDS_FULL] = { "needs-full", "needs full evaluation" },
	[UNWIND_NO_REGISTER] = { "no-register", "needs a register that is not known" },
	[UNWIND_BAD_TABLE] = { "bad-table", "the unwinding information makes no sense" },
	[UNWIND_ABI] = { "abi", "a 32-bit process" },
};

const char *unwind_end_name(enum unwind_end end)
{
	return end < UNWIND_END_MAX ? end_names[end][0] : "unknown";
}

const char *unwind_end_text(enum unwind_end end)
{
	return end < UNWIND_END_MAX ? end_names[end][1] : "ended for an unknown reason";
}

static bool unwind_has(const struct unwind_regs *regs, unsigned reg)
{
	return regs->known >> reg & 1;
}

uint64_t unwind_ip(const struct unwind_regs *r)
{
	return r->r[unwind_pc_reg(r->machine == EM_X86_64)];
}

uint64_t unwind_sp(const struct unwind_regs *r)
{
	return r->r[unwind_sp_reg(r->machine == EM_X86_64)];
}

int unwind_regs_from_perf(uint16_t machine, uint64_t abi, uint64_t mask, const uint64_t *regs,
			  struct unwind_regs *ret)
{
	/* perf: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 .. r15 */
	static const int8_t x86[] = { 0,  3,  2,  1,  4, 5, 6,	7,  16, -1, -1, -1,
				      -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };
	unsigned limit = machine == EM_X86_64 ? sizeof(x86) : 33, n = 0;

	if (abi != EVENT_REGS_64 || (machine != EM_X86_64 && machine != EM_AARCH64))
		return -EOPNOTSUPP;
	*ret = (struct unwind_regs){ .machine = machine };
	for (; mask; mask &= mask - 1, n++) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		int to = i >= limit ? -1 : machine == EM_X86_64 ? x86[i] : (int)i;

		if (to >= 0) {
			ret->r[to] = regs[n];
			ret->known |= (uint64_t)1 << to;
		}
	}
	if (!(ret->known >> unwind_sp_reg(machine == EM_X86_64) & 1) ||
	    !(ret->known >> unwind_pc_reg(machine == EM_X86_64) & 1))
		return -ENODATA;
	return 0;
}

/* The mapping that holds pc, or NULL. Holds until the next call. */
static const struct unwind_map *unwind_map_find(struct unwind_work *w, uint64_t pc)
{
	struct unwind_cache *c = w->cache;
	struct unwind_map m = { 0 };

	for (unsigned i = 0; i < c->n; i++)
		if (pc - c->map[i].start < c->map[i].end - c->map[i].start)
			return &c->map[i];
	if (!w->in->find(w->in->ctx, pc, &m) || pc < m.start || pc >= m.end)
		return NULL;
	if (c->n < sizeof(c->map) / sizeof(c->map[0]))
		c->next = c->n++;
	else
		c->next = (c->next + 1) % c->n;
	c->map[c->next] = m;
	return &c->map[c->next];
}

bool unwind_read_other(struct unwind_work *w, uint64_t addr, void *buf, size_t n)
{
	uint64_t at = addr - w->stack_start;

	if (at < w->in->stack_size && n <= w->in->stack_size - at) {
		memcpy(buf, w->in->stack + at, n);
		return true;
	}
	if (w->in->read && w->in->read(w->in->ctx, addr, buf, n))
		return true;
	/* Above the copy, though not absurdly far, there was more stack. */
	w->truncated = at >= w->in->stack_size && at < (uint64_t)1 << 30;
	return false;
}

/* The caller by frame pointer. UNWIND_NONE when that gave a believable frame. */
static enum unwind_end step_fp(struct unwind_work *w, struct frame *f)
{
	uint64_t fp, ra;

	if (!f->fp)
		return f->by_fp ? UNWIND_BOTTOM : UNWIND_NO_TABLE;
	if (f->fp < f->sp || f->fp % 8)
		return UNWIND_NO_TABLE;
	if (!unwind_read(w, f->fp, &fp) || !unwind_read(w, f->fp + 8, &ra))
		return w->truncated ? UNWIND_TRUNCATED : UNWIND_NO_TABLE;
	ra &= w->ra_mask;
	if (!ra)
		return UNWIND_BOTTOM;
	/* A guess is kept only if it leads to code. What is saved there need not be a frame
	 * pointer: the caller may be one that uses none. */
	if (!unwind_map_find(w, ra - 1))
		return UNWIND_NO_TABLE;
	*f = (struct frame){ .ip = ra,
			     .sp = f->fp + 16,
			     .fp = fp,
			     .is_return = true,
			     .by_fp = true,
			     .sp_known = w->x86 };
	return UNWIND_NONE;
}

static enum unwind_end rule_cfa(struct unwind_work *w, const struct ehframe_rule *r,
				const struct frame *f, const struct unwind_regs *regs,
				uint64_t *cfa)
{
	/* After a frame pointer step on aarch64 the stack pointer is not known, but a function that
	 * saves the frame pointer lets it point to where it is saved. */
	if (!f->sp_known && r->cfa != EHFRAME_CFA_FP && r->cfa != EHFRAME_CFA_DEREF_FP) {
		if (r->fp != EHFRAME_FP_CFA)
			return UNWIND_NO_REGISTER;
		*cfa = f->fp - (uint64_t)((int64_t)r->fp_off * 8);
		return UNWIND_NONE;
	}
	switch (r->cfa) {
	case EHFRAME_CFA_SP: *cfa = f->sp + (uint64_t)(int64_t)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_FP: *cfa = f->fp + (uint64_t)(int64_t)r->cfa_off; return UNWIND_NONE;
	case EHFRAME_CFA_PLT:
		*cfa = f->sp + (uint64_t)(int64_t)r->cfa_off +
		       ((f->ip & 15) >= (uint64_t)r->extra ? 8 : 0);
		return UNWIND_NONE;
	case EHFRAME_CFA_DEREF_SP:
	case EHFRAME_CFA_DEREF_FP:
		if (!unwind_read(w,
				 (r->cfa == EHFRAME_CFA_DEREF_SP ? f->sp : f->fp) +
					 (uint64_t)(int64_t)r->cfa_off,
				 cfa))
			return unwind_read_failed(w);
		*cfa += 8u * (uint64_t)r->extra;
		return UNWIND_NONE;
	case EHFRAME_CFA_REG:
		if (w->x86 && r->extra == EHFRAME_X86_BX && f->bx_known) {
			*cfa = f->bx + (uint64_t)(int64_t)r->cfa_off;
			return UNWIND_NONE;
		}
		if (!regs || !(regs->known >> r->extra & 1))
			return UNWIND_NO_REGISTER;
		*cfa = regs->r[r->extra] + (uint64_t)(int64_t)r->cfa_off;
		return UNWIND_NONE;
	default: return UNWIND_NEEDS_FULL;
	}
}

/*
 * The caller by a compact rule; regs are all registers, where they are known
 * (the innermost frame), else NULL. *f changes only on UNWIND_NONE.
 */
static enum unwind_end step_rule(struct unwind_work *w, const struct ehframe_rule *r,
				 struct frame *f, const struct unwind_regs *regs)
{
	struct frame n = { .fp = f->fp,
			   .is_return = !(r->ra & EHFRAME_RA_SIGNAL),
			   .sp_known = true };
	uint64_t ra_at = 0, fp_at;
	enum unwind_end end = rule_cfa(w, r, f, regs, &n.sp);

	if (end != UNWIND_NONE)
		return end;
	/* Frames lie one above the other, but for those on a stack of their own (signals, Go's
	 * runtime), and leaf functions that use none. */
	if (n.is_return && !(r->ra & EHFRAME_RA_SWITCH) &&
	    (n.sp < f->sp || (n.sp == f->sp && r->ra != EHFRAME_RA_REG)))
		return UNWIND_NO_PROGRESS;
	if (r->fp == EHFRAME_FP_UNDEF)
		n.fp = 0;
	else if (r->fp != EHFRAME_FP_SAME &&
		 (r->fp != EHFRAME_FP_FP || (f->fp >= f->sp && f->fp < n.sp))) {
		fp_at = r->fp == EHFRAME_FP_CFA ? n.sp : r->fp == EHFRAME_FP_SP ? f->sp : f->fp;
		/* A lost frame pointer matters only to a caller that needs it. */
		if (!unwind_read(w, fp_at + (uint64_t)((int64_t)r->fp_off * 8), &n.fp))
			n.fp = 0;
	}
	switch (r->ra & EHFRAME_RA_MASK) {
	case EHFRAME_RA_REG:
		if (!w->x86 && r->ra_off == EHFRAME_ARM64_LR && f->lr_known)
			n.ip = f->lr;
		else if (regs && (regs->known >> r->ra_off & 1))
			n.ip = regs->r[r->ra_off];
		else
			return UNWIND_NO_REGISTER;
		break;
	case EHFRAME_RA_BX:
		n.bx = f->bx;
		n.bx_known = f->bx_known;
		if (r->ra_off)
			n.bx_known =
				unwind_read(w, n.sp + (uint64_t)((int64_t)r->ra_off * 8), &n.bx);
		if (!unwind_read(w, n.sp - 8, &n.ip))
			return unwind_read_failed(w);
		break;
	default:
		ra_at = ((r->ra & EHFRAME_RA_MASK) == EHFRAME_RA_CFA ? n.sp : f->sp) +
			(uint64_t)((int64_t)r->ra_off * 8);
		if (!unwind_read(w, ra_at, &n.ip))
			return unwind_read_failed(w);
	}
	n.ip &= w->ra_mask;
	if (!n.ip)
		return UNWIND_BOTTOM;
	if (!w->x86 && !n.is_return)
		n.lr_known = unwind_read(w, ra_at - 16, &n.lr);
	*f = n;
	return UNWIND_NONE;
}

/* All registers where a signal interrupted, as the kernel lays them out above the trampoline's sp.
 */
static void signal_regs(struct unwind_work *w, uint64_t sp, struct unwind_regs *regs)
{
	static const uint8_t x86[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };
	unsigned n = w->x86 ? sizeof(x86) : 33;

	regs->known = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned reg = w->x86 ? x86[i] : i;

		if (unwind_read(w, sp + (w->x86 ? 40 : 312) + 8u * i, &regs->r[reg]))
			regs->known |= (uint64_t)1 << reg;
	}
}

/*
 * A return address that no call stands before, but a function starts at, was
 * put there by whoever made this stack (makecontext): the stack starts here.
 */
static bool made_up(const struct unwind_map *m, const struct ehframe_rule *r, uint64_t pc,
		    bool is_return)
{
	return is_return && r->cfa == EHFRAME_CFA_NONE &&
	       ehframe_lookup(m->table, pc + 1 - m->start + m->pgoff)->cfa != EHFRAME_CFA_NONE;
}

/* The rule in force where f is; NULL when nothing is mapped there. */
static const struct ehframe_rule *rule_look_up(struct unwind_work *w, const struct frame *f)
{
	static const struct ehframe_rule none = { .cfa = EHFRAME_CFA_NONE },
					 bottom = { .cfa = EHFRAME_CFA_BOTTOM };
	uint64_t pc = f->ip - f->is_return;
	const struct unwind_map *m = unwind_map_find(w, pc);
	const struct ehframe_rule *r;

	if (!m)
		return NULL;
	if (!m->table)
		return &none;
	r = ehframe_lookup(m->table, pc - m->start + m->pgoff);
	return made_up(m, r, pc, f->is_return) ? &bottom : r;
}

static inline const struct ehframe_rule *rule_of(struct unwind_work *w, const struct frame *f)
{
	struct unwind_cache *c = w->cache;
	uint64_t key = f->ip << 1 | f->is_return;
	struct unwind_known *k;
	const struct ehframe_rule *r;

	if (!c->known || f->ip >> 47 || c->space >> 16)
		return rule_look_up(w, f);
	key |= (uint64_t)c->space << 48;
	k = &c->known[(key * 0x9e3779b97f4a7c15) >> 32 & (UNWIND_KNOWN - 1)];
	if (k->key == key && k->rule)
		return k->rule;
	r = rule_look_up(w, f);
	if (r)
		*k = (struct unwind_known){ key, r };
	return r;
}

/* Where a plain frame's caller is: in the copy, at offsets that the rule tells. */
struct plain {
	uint64_t cfa, ra_at, fp_at;
	bool fp_saved;
};

/* Nearly all frames of x86_64 are so; false for all others. */
static inline bool plain_step(const struct unwind_work *w, const struct ehframe_rule *r,
			      const struct frame *f, struct plain *p)
{
	const uint64_t size = w->in->stack_size;

	if (!w->x86 || (r->cfa != EHFRAME_CFA_SP && r->cfa != EHFRAME_CFA_FP) ||
	    r->ra != EHFRAME_RA_CFA || r->fp > EHFRAME_FP_CFA || size < 8)
		return false;
	p->cfa = (r->cfa == EHFRAME_CFA_SP ? f->sp : f->fp) + (uint64_t)(int64_t)r->cfa_off;
	p->ra_at = p->cfa + (uint64_t)((int64_t)r->ra_off * 8) - w->stack_start;
	p->fp_saved = r->fp == EHFRAME_FP_CFA;
	p->fp_at = p->fp_saved ? p->cfa + (uint64_t)((int64_t)r->fp_off * 8) - w->stack_start : 0;
	return p->cfa > f->sp && p->ra_at <= size - 8 && p->fp_at <= size - 8;
}

/* UNWIND_BOTTOM: there is no caller. */
static inline enum unwind_end plain_take(const struct unwind_work *w, const struct plain *p,
					 struct frame *f)
{
	uint64_t ra;

	memcpy(&ra, w->in->stack + p->ra_at, 8);
	ra &= w->ra_mask;
	if (!ra)
		return UNWIND_BOTTOM;
	if (p->fp_saved)
		memcpy(&f->fp, w->in->stack + p->fp_at, 8);
	f->ip = ra;
	f->sp = p->cfa;
	f->is_return = true;
	f->bx_known = f->by_fp = false;
	return UNWIND_NONE;
}

static struct frame first_frame(const struct unwind_work *w)
{
	const struct unwind_regs *regs = w->in->regs;
	unsigned fp_reg = unwind_fp_reg(w->x86);
	struct frame f = { .ip = unwind_ip(regs), .sp = w->stack_start, .sp_known = true };

	f.fp = unwind_has(regs, fp_reg) ? regs->r[fp_reg] : 0;
	f.bx = regs->r[EHFRAME_X86_BX];
	f.bx_known = w->x86 && unwind_has(regs, EHFRAME_X86_BX);
	if (!w->x86) {
		f.lr = regs->r[EHFRAME_ARM64_LR];
		f.lr_known = unwind_has(regs, EHFRAME_ARM64_LR);
	}
	return f;
}

/* By compact rows only. Full evaluation may cure UNWIND_NEEDS_FULL and UNWIND_NO_REGISTER. */
static enum unwind_end walk_rows(struct unwind_work *w, struct frame f, uint64_t *chain,
				 uint32_t max, struct unwind_result *ret)
{
	for (;;) {
		const struct ehframe_rule *r;
		enum unwind_end end;
		struct plain p;

		if (ret->n == max)
			return UNWIND_DEPTH;
		chain[ret->n++] = f.ip;
		ret->end_pc = f.ip;
		r = rule_of(w, &f);
		if (!r)
			return UNWIND_NO_MAP;
		if (r->cfa == EHFRAME_CFA_BOTTOM)
			return UNWIND_BOTTOM;
		if (plain_step(w, r, &f, &p)) {
			end = plain_take(w, &p, &f);
		} else if (r->cfa == EHFRAME_CFA_NONE) {
			end = step_fp(w, &f);
			ret->flags |= end == UNWIND_NONE ? UNWIND_USED_FP : 0;
		} else {
			end = step_rule(w, r, &f, ret->n == 1 ? w->in->regs : NULL);
			ret->flags |= r->ra & EHFRAME_RA_SIGNAL ? UNWIND_SIGNAL : 0;
		}
		if (end != UNWIND_NONE)
			return end;
	}
}

/* One frame with all registers, by what the compact rule or the frame pointer says. */
static enum unwind_end step_rows(struct unwind_work *w, const struct unwind_map *m,
				 struct unwind_regs *regs, bool *is_return,
				 struct unwind_result *ret)
{
	unsigned pc_reg = unwind_pc_reg(w->x86), sp_reg = unwind_sp_reg(w->x86);
	unsigned fp_reg = unwind_fp_reg(w->x86);
	uint64_t pc = regs->r[pc_reg] - *is_return, sp = regs->r[sp_reg];
	const struct ehframe_rule *r =
		m->table ? ehframe_lookup(m->table, pc - m->start + m->pgoff) : NULL;
	bool by_fp = !r || r->cfa == EHFRAME_CFA_NONE;
	struct frame f = { .ip = regs->r[pc_reg],
			   .sp = sp,
			   .sp_known = unwind_has(regs, sp_reg),
			   .fp = unwind_has(regs, fp_reg) ? regs->r[fp_reg] : 0,
			   .lr = regs->r[EHFRAME_ARM64_LR],
			   .lr_known = !w->x86 && unwind_has(regs, EHFRAME_ARM64_LR),
			   .is_return = *is_return };
	enum unwind_end end;

	if (r && (r->cfa == EHFRAME_CFA_BOTTOM || made_up(m, r, pc, *is_return)))
		return UNWIND_BOTTOM;
	end = by_fp ? step_fp(w, &f) : step_rule(w, r, &f, regs);
	if (end != UNWIND_NONE)
		return end;
	if (!f.is_return) {
		signal_regs(w, sp, regs);
		ret->flags |= UNWIND_SIGNAL;
	} else if (by_fp) {
		regs->known = 0;
		ret->flags |= UNWIND_USED_FP;
	}
	regs->r[pc_reg] = f.ip;
	regs->r[sp_reg] = f.sp;
	regs->r[fp_reg] = f.fp;
	regs->known |=
		(uint64_t)1 << pc_reg | (uint64_t)f.sp_known << sp_reg | (uint64_t)1 << fp_reg;
	if (!w->x86 && f.is_return)
		regs->known &= ~((uint64_t)1 << EHFRAME_ARM64_LR);
	*is_return = f.is_return;
	return UNWIND_NONE;
}

/* One frame with all registers: by the file's own information where there is some. */
static enum unwind_end step_full(struct unwind_work *w, struct unwind_regs *regs, bool *is_return,
				 struct unwind_result *ret)
{
	unsigned sp_reg = unwind_sp_reg(w->x86);
	uint64_t pc = unwind_ip(regs) - *is_return, sp = regs->r[sp_reg], vaddr;
	const struct unwind_map *m = unwind_map_find(w, pc);
	enum unwind_end end = UNWIND_NONE;
	const struct ehframe *cfi;
	bool signal = false;

	if (!m)
		return UNWIND_NO_MAP;
	cfi = m->cfi || !w->in->cfi ? m->cfi : w->in->cfi(w->in->ctx, m);
	if (!cfi || !unwind_has(regs, sp_reg) ||
	    !ehframe_vaddr(cfi, pc - m->start + m->pgoff, &vaddr) ||
	    unwind_full_step(w, cfi, vaddr, regs, &signal, &end) < 0)
		return step_rows(w, m, regs, is_return, ret);
	*is_return = !signal;
	ret->flags |= signal ? UNWIND_SIGNAL : 0;
	/* Frames rise; the innermost may have none of its own. */
	if (end == UNWIND_NONE && !signal &&
	    (ret->n > 1 ? regs->r[sp_reg] <= sp : regs->r[sp_reg] < sp))
		return UNWIND_NO_PROGRESS;
	return end;
}

static enum unwind_end walk_full(struct unwind_work *w, uint64_t *chain, uint32_t max,
				 struct unwind_result *ret)
{
	struct unwind_regs regs = *w->in->regs;
	bool is_return = false;
	enum unwind_end end;

	do {
		if (ret->n == max)
			return UNWIND_DEPTH;
		ret->end_pc = unwind_ip(&regs);
		chain[ret->n++] = ret->end_pc;
		end = step_full(w, &regs, &is_return, ret);
	} while (end == UNWIND_NONE);
	return end;
}

static struct unwind_work work_of(const struct unwind_input *in, struct unwind_cache *cache)
{
	struct unwind_work w = { .in = in, .cache = cache, .stack_start = unwind_sp(in->regs) };

	w.x86 = in->regs->machine == EM_X86_64;
	w.ra_mask = in->ra_mask ? in->ra_mask : w.x86 ? UINT64_MAX : ARM64_ADDRESS;
	return w;
}

/* Rows did not do: from the start, since only so are all registers known where one is needed. */
static void walk_again(struct unwind_work *w, uint64_t *chain, uint32_t max,
		       struct unwind_result *ret)
{
	struct unwind_result full = { .flags = UNWIND_USED_FULL };

	if (ret->end != UNWIND_NEEDS_FULL && ret->end != UNWIND_NO_REGISTER)
		return;
	full.end = walk_full(w, chain, max, &full);
	if (full.end == UNWIND_BOTTOM || full.n >= ret->n) {
		*ret = full;
		return;
	}
	*ret = (struct unwind_result){ 0 };
	ret->end = walk_rows(w, first_frame(w), chain, max, ret);
}

void unwind_stack(const struct unwind_input *in, struct unwind_cache *cache, uint64_t *chain,
		  uint32_t max, struct unwind_result *ret)
{
	struct unwind_work w = work_of(in, cache);

	*ret = (struct unwind_result){ 0 };
	ret->end = walk_rows(&w, first_frame(&w), chain, max, ret);
	walk_again(&w, chain, max, ret);
}

/* A stack that is being unwound beside others: where its next return address lies has been
 * found, and the memory asked for. */
struct lane {
	struct unwind_job *job;
	struct unwind_work w;
	struct frame f;
	struct plain next;
	bool asked;
};

static void lane_open(struct lane *l, struct unwind_job *job, struct unwind_cache *cache)
{
	job->ret = (struct unwind_result){ 0 };
	*l = (struct lane){ .job = job, .w = work_of(&job->in, cache) };
	l->f = first_frame(&l->w);
	if (job->in.stack_size)
		__builtin_prefetch(job->in.stack);
}

/* One frame; false when the stack is done. */
static inline bool lane_step(struct lane *l)
{
	struct unwind_job *j = l->job;
	const struct ehframe_rule *r;

	if (l->asked && plain_take(&l->w, &l->next, &l->f) == UNWIND_BOTTOM) {
		j->ret.end = UNWIND_BOTTOM;
		return false;
	}
	r = j->ret.n < j->max ? rule_of(&l->w, &l->f) : NULL;
	l->asked = r && plain_step(&l->w, r, &l->f, &l->next);
	if (!l->asked) {
		j->ret.end = walk_rows(&l->w, l->f, j->chain, j->max, &j->ret);
		walk_again(&l->w, j->chain, j->max, &j->ret);
		return false;
	}
	__builtin_prefetch(j->in.stack + l->next.ra_at);
	if (l->next.fp_saved)
		__builtin_prefetch(j->in.stack + l->next.fp_at);
	j->chain[j->ret.n++] = l->f.ip;
	j->ret.end_pc = l->f.ip;
	return true;
}

#define LANES 12

void unwind_stacks(struct unwind_job *jobs, size_t n, struct unwind_cache *cache)
{
	struct lane lane[LANES];
	size_t next = 0, open = 0;

	while (open < LANES && next < n)
		lane_open(&lane[open++], &jobs[next++], cache);
	while (open)
		for (size_t i = 0; i < open;) {
			if (lane_step(&lane[i])) {
				i++;
			} else if (next < n) {
				lane_open(&lane[i++], &jobs[next++], cache);
			} else {
				open--;
				lane[i] = lane[open];
			}
		}
}
