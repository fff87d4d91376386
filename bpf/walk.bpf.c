// SPDX-License-Identifier: MIT
/*
 * The stack walker: runs on every sample, walks the user stack over tables
 * that user space made from .eh_frame, and sends the sample with its chains
 * through a ring. Returns 0, so the kernel drops its own sample.
 *
 * Kept to what the verifier of 6.1 accepts: one bpf_loop over frames, small
 * bounded searches inside. See src/live/walker_abi.h for the maps.
 */
#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "live/walker_abi.h"

/* unwind.h's flags, which that header cannot be included for. */
#define USED_FP 1u
#define SIGNAL 4u

#define PF_KTHREAD 0x00200000

struct mm_struct;
struct task_struct___k {
	unsigned int flags;
	struct mm_struct *mm;
	unsigned in_execve : 1;
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
struct pt_regs___k {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long ip, cs, sp;
} __attribute__((preserve_access_index));
#	define REGS 17
#	define REG_FP 6
#	define REG_SP 7
#	define REG_PC 16
#else
struct pt_regs___k {
	__u64 regs[31], sp, pc, pstate;
} __attribute__((preserve_access_index));
#	define REGS 33
#	define REG_FP 29
#	define REG_LR 30
#	define REG_SP 31
#	define REG_PC 32
#endif

const volatile struct walk_config config = {};
__u64 lost; /* samples for which the ring had no room */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct walk_proc);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 131072);
	__type(key, __u32);
	__type(value, struct walk_map);
} maps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_TABLES);
	__type(key, __u32);
	__type(value, struct walk_table);
} tables SEC(".maps");

/* All slabs have the same size: only so are lookups in them inlined. */
struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_SLAB_WORDS / 16);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct walk_block));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WALK_SLABS);
	__uint(key_size, 4);
	__array(values, struct slab);
} slabs SEC(".maps");

/* struct ehframe_rule and 4 bytes of padding; BPF rounds up to 8 anyway. */
struct rule_slot {
	struct ehframe_rule rule;
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct rule_slot);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

/* A CPU's sample in the making; the program does not interrupt itself. */
struct state {
	__u64 r[REGS]; /* of the innermost frame */
	__u64 ip, sp, fp;
	__u64 extra; /* x86: rbx, aarch64: the link register */
	__u64 map_start, map_end, map_pgoff;
	__u64 tgid;
	__u32 map_table;
	__u32 first, n_maps;
	__u32 is_return; /* ip is a return address */
	__u32 extra_known;
	__u32 by_fp; /* ip was found by frame pointer */
	__u32 sp_known;
	__u32 has_map;
	__u64 last_copy;
	volatile __u32 slot;
	struct walk_sample s;
	__u64 chain[WALK_DEPTH + WALK_KERNEL];
	__u8 copy[sizeof(struct walk_regs) + WALK_COPY];
};

/* By CPU, and no per-CPU map: those are limited to 32 KiB a value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

#define END(why)                \
	({                      \
		s->s.end = why; \
		1;              \
	})

/*
 * The last of n mappings from first on that starts at or before pc. Global, with
 * numbers in and out, so that it is verified once and by itself.
 */
__noinline __u32 search_maps(__u32 first, __u32 n, __u64 pc)
{
	__u32 lo = first, hi = first + n, at;
	struct walk_map *m;

	for (int i = 0; i < WALK_MAPS_SHIFT; i++) {
		if (lo >= hi)
			break;
		at = (lo + hi) >> 1;
		m = bpf_map_lookup_elem(&maps, &at);
		if (!m)
			break;
		if (m->start <= pc)
			lo = at + 1;
		else
			hi = at;
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
	__u32 chunk = off >> EHFRAME_CHUNK_SHIFT, want, lo, hi, word, at;
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
		if (word <= want)
			lo = at + 1;
		else
			hi = at;
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
	if (s->s.n_user != 1 || reg >= REGS)
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

static __always_inline long step_rule(struct state *s, struct ehframe_rule *r)
{
	__u64 cfa, fp, v[2], ra_at;
	__u8 ra = r->ra & EHFRAME_RA_MASK, signal = r->ra & EHFRAME_RA_SIGNAL;
	__u32 end = rule_cfa(s, r, &cfa);

	if (end != UNWIND_NONE)
		return END(end);
	if (!signal && (cfa < s->sp || (cfa == s->sp && ra != EHFRAME_RA_REG)))
		return END(UNWIND_NO_PROGRESS);
	if (ra == EHFRAME_RA_CFA && r->fp == EHFRAME_FP_CFA && r->fp_off == r->ra_off - 1) {
		/* Side by side, as most are: one read. */
		if (bpf_probe_read_user(v, 16, (void *)(cfa + 8 * (__s64)r->fp_off)))
			return END(UNWIND_BAD_ADDRESS);
		s->fp = v[0];
		s->extra_known = 0;
	} else {
		fp = rule_fp(s, r, cfa);
		if (ra == EHFRAME_RA_REG) {
#if defined(__TARGET_ARCH_x86)
			if (!innermost(s, (__u16)r->ra_off, &v[1]))
				return END(UNWIND_NO_REGISTER);
#else
			if (r->ra_off != REG_LR || !s->extra_known)
				return END(UNWIND_NO_REGISTER);
			v[1] = s->extra;
#endif
			s->extra_known = 0;
		} else {
			ra_at = ra == EHFRAME_RA_BX ? cfa - 8
						    : (ra == EHFRAME_RA_CFA ? cfa : s->sp) +
							      8 * (__s64)r->ra_off;
			if (!read_user(ra_at, &v[1]))
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
	}
	v[1] &= config.ra_mask;
	if (!v[1])
		return END(UNWIND_BOTTOM);
	s->sp = cfa;
	s->ip = v[1];
	s->is_return = !signal;
	s->by_fp = 0;
	s->sp_known = 1;
	if (signal)
		s->s.unwind |= SIGNAL;
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

	n = s->s.n_user;
	if (n >= config.depth || n >= WALK_DEPTH)
		return END(UNWIND_DEPTH);
	pc = s->ip - s->is_return;
	known = find_map(s, pc);
	/* What a frame pointer led to is believed only if it is code. */
	if (!known && s->by_fp)
		return END(UNWIND_NO_TABLE);
	s->chain[n] = s->ip;
	s->s.n_user = n + 1;
	s->s.end_pc = s->ip;
	if (s->by_fp) {
		s->s.unwind |= USED_FP;
		s->s.n_fp++;
	}
	if (!known)
		return END(UNWIND_NO_MAP);
	found = find_rule(s, s->map_table, pc - s->map_start + s->map_pgoff);
	if (found == FOUND_PENDING)
		return END(UNWIND_PENDING);
	if (found < FOUND_PENDING)
		return END(UNWIND_BAD_TABLE);
	/* Nothing known there is rule 0's meaning, too. */
	key = found < 0 ? EHFRAME_RULE_NONE : found;
	r = bpf_map_lookup_elem(&rules, &key);
	if (!r)
		return END(UNWIND_BAD_TABLE);
	if (r->rule.cfa == EHFRAME_CFA_BOTTOM)
		return END(UNWIND_BOTTOM);
	if (r->rule.cfa == EHFRAME_CFA_NONE ||
	    (!s->sp_known && r->rule.cfa != EHFRAME_CFA_FP && r->rule.cfa != EHFRAME_CFA_DEREF_FP))
		return step_fp(s);
	return step_rule(s, &r->rule);
}

/* The user registers of the interrupted task. */
#if defined(__TARGET_ARCH_x86)
#	define USER32_CS 0x23
#	define COPY_REGS(s, p, AX, DX, CX, BX, SI, DI, BP, SP, IP) \
		do {                                                \
			(s)->r[0] = (p)->AX;                        \
			(s)->r[1] = (p)->DX;                        \
			(s)->r[2] = (p)->CX;                        \
			(s)->r[3] = (p)->BX;                        \
			(s)->r[4] = (p)->SI;                        \
			(s)->r[5] = (p)->DI;                        \
			(s)->r[6] = (p)->BP;                        \
			(s)->r[7] = (p)->SP;                        \
			(s)->r[8] = (p)->r8;                        \
			(s)->r[9] = (p)->r9;                        \
			(s)->r[10] = (p)->r10;                      \
			(s)->r[11] = (p)->r11;                      \
			(s)->r[12] = (p)->r12;                      \
			(s)->r[13] = (p)->r13;                      \
			(s)->r[14] = (p)->r14;                      \
			(s)->r[15] = (p)->r15;                      \
			(s)->r[16] = (p)->IP;                       \
		} while (0)
#endif

static __always_inline __u32 user_regs(struct bpf_perf_event_data *ctx, struct state *s, bool user)
{
	if (user) {
#if defined(__TARGET_ARCH_x86)
		COPY_REGS(s, &ctx->regs, rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, rip);
		return ctx->regs.cs == USER32_CS ? UNWIND_ABI : UNWIND_BOTTOM;
#else
#	pragma unroll
		for (int i = 0; i < 31; i++)
			s->r[i] = ctx->regs.regs[i];
		s->r[REG_SP] = ctx->regs.sp;
		s->r[REG_PC] = ctx->regs.pc;
		return ctx->regs.pstate & 0x10 ? UNWIND_ABI : UNWIND_BOTTOM;
#endif
	}
	struct task_struct___k *task = (void *)bpf_get_current_task_btf();
	struct pt_regs___k *regs;

	/* No user stack, or no longer: a task on its way out has lost its memory. */
	if ((task->flags & PF_KTHREAD) || !task->mm)
		return UNWIND_NONE;
	regs = (void *)bpf_task_pt_regs((void *)task);
#if defined(__TARGET_ARCH_x86)
	COPY_REGS(s, regs, ax, dx, cx, bx, si, di, bp, sp, ip);
	if (regs->cs == USER32_CS)
		return UNWIND_ABI;
#else
	if (bpf_probe_read_kernel(s->r, sizeof(s->r), regs))
		return UNWIND_NONE;
	if (regs->pstate & 0x10)
		return UNWIND_ABI;
#endif
	if ((__s64)s->r[REG_PC] <= 0 || !s->r[REG_SP])
		return UNWIND_NONE;
	/* Between two programs: the registers are the old one's, the memory is the new one's. */
	if (bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve))
		return UNWIND_BAD_ADDRESS;
	return UNWIND_BOTTOM;
}

static __always_inline void walk_user(struct bpf_perf_event_data *ctx, struct state *s, bool user)
{
	struct walk_ctx w = { .s = s };
	__u32 tgid = s->tgid;
	struct walk_proc *p;

	s->s.end = user_regs(ctx, s, user);
	if (s->s.end != UNWIND_BOTTOM) /* anything but: there is a stack */
		return;
	p = bpf_map_lookup_elem(&procs, &tgid);
	s->first = p ? p->first : 0;
	s->n_maps = p ? p->n : 0;
	s->ip = s->r[REG_PC];
	s->sp = s->r[REG_SP];
	s->fp = s->r[REG_FP];
#if defined(__TARGET_ARCH_x86)
	s->extra = s->r[EHFRAME_X86_BX];
#else
	s->extra = s->r[REG_LR];
#endif
	s->extra_known = 1;
	s->sp_known = 1;
	s->is_return = s->by_fp = s->has_map = 0;
	s->s.end = UNWIND_DEPTH;
	bpf_loop(WALK_DEPTH + 1, step, &w, 0);
}

struct copy_ctx {
	struct state *s;
	__u64 from;
};

/* A step of the stack copy: up to the next multiple of WALK_COPY_STEP, so that a read ends where a
 * page does. */
static long copy_step(__u32 i, struct copy_ctx *c)
{
	struct state *s = c->s;
	__u32 at = s->s.copy;
	__u64 from = c->from + at;
	__u32 n = WALK_COPY_STEP - (from & (WALK_COPY_STEP - 1));

	if (at > WALK_COPY - WALK_COPY_STEP || n > WALK_COPY_STEP)
		return 1;
	if (bpf_probe_read_user(s->copy + sizeof(struct walk_regs) + at, n, (void *)from))
		return 1;
	s->s.copy = at + n;
	return 0;
}

/* Whether user space could finish what ended like this, if it had the stack. */
static __always_inline bool worth_a_copy(struct state *s)
{
	__u32 end = s->s.end;

	if (!config.copy_ns || s->s.time - s->last_copy < config.copy_ns)
		return false;
	return end == UNWIND_NEEDS_FULL || end == UNWIND_NO_REGISTER || end == UNWIND_PENDING ||
	       end == UNWIND_NO_MAP;
}

static __always_inline void copy_stack(struct state *s)
{
	struct copy_ctx c = { .s = s, .from = s->r[REG_SP] };

	__builtin_memcpy(s->copy, s->r, sizeof(s->r));
	bpf_loop(WALK_COPY / WALK_COPY_STEP + 1, copy_step, &c, 0);
	s->last_copy = s->s.time;
}

static __always_inline void send(struct state *s)
{
	__u64 size = sizeof(s->s), flags = BPF_RB_NO_WAKEUP;
	__u32 n = s->s.n_user + s->s.n_kernel;

	if (s->s.copy) {
		/* The copy lies behind a full chain, which is sent whole with it. */
		size = __builtin_offsetof(struct state, copy) -
		       __builtin_offsetof(struct state, s) + sizeof(struct walk_regs) + s->s.copy;
		flags = 0;
	} else {
		size += n * 8ul;
	}
	if (s->s.end == UNWIND_NO_MAP || s->s.end == UNWIND_PENDING ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= config.wake_bytes)
		flags = 0;
	if (size > sizeof(*s) - __builtin_offsetof(struct state, s) ||
	    bpf_ringbuf_output(&ring, &s->s, size, flags))
		__sync_fetch_and_add(&lost, 1);
}

static __always_inline void task_ids(struct state *s)
{
	struct bpf_pidns_info ns;
	__u64 id;

	if (config.pidns_ino &&
	    !bpf_get_ns_current_pid_tgid(config.pidns_dev, config.pidns_ino, &ns, sizeof(ns))) {
		s->s.pid = ns.tgid;
		s->s.tid = ns.pid;
	} else {
		id = bpf_get_current_pid_tgid();
		s->s.pid = id >> 32;
		s->s.tid = (__u32)id;
	}
	s->tgid = s->s.pid;
}

static __noinline int walk(struct bpf_perf_event_data *ctx, __u32 event)
{
	__u32 cpu = bpf_get_smp_processor_id(), n;
	struct state *s = bpf_map_lookup_elem(&states, &cpu);
	long bytes;
	bool user;

	if (!s)
		return 0;
#if defined(__TARGET_ARCH_x86)
	s->s.ip = ctx->regs.rip;
#else
	s->s.ip = ctx->regs.pc;
#endif
	user = (__s64)s->s.ip >= 0; /* the kernel's addresses are the upper half */
	s->s.time = bpf_ktime_get_ns();
	s->s.period = ctx->sample_period;
	s->s.addr = ctx->addr;
	s->s.event = event;
	s->s.cpu = cpu;
	s->s.flags = user ? WALK_USER_MODE : 0;
	s->s.n_user = s->s.n_kernel = s->s.copy = s->s.unwind = s->s.n_fp = 0;
	s->s.end = UNWIND_NONE;
	s->s.end_pc = 0;
	task_ids(s);
	if (config.user && s->s.tid)
		walk_user(ctx, s, user);
	n = s->s.n_user;
	if (config.kernel && !user && n <= WALK_DEPTH) {
		__u32 want = config.kernel_depth * 8;

		if (want > WALK_KERNEL * 8)
			want = WALK_KERNEL * 8;
		bytes = bpf_get_stack(ctx, &s->chain[n], want, 0);
		if (bytes > 0)
			s->s.n_kernel = bytes / 8;
	}
	if (worth_a_copy(s))
		copy_stack(s);
	send(s);
	return 0;
}

/*
 * One program an event: an attach cookie would tell them apart too, but children
 * that inherit an event do not inherit its cookie.
 */
#define PROGRAM(n)                                   \
	SEC("perf_event")                            \
	int walk##n(struct bpf_perf_event_data *ctx) \
	{                                            \
		return walk(ctx, n);                 \
	}
PROGRAM(0)
PROGRAM(1)
PROGRAM(2)
PROGRAM(3)
PROGRAM(4)
PROGRAM(5)
PROGRAM(6)
PROGRAM(7)
PROGRAM(8)
PROGRAM(9)
PROGRAM(10)
PROGRAM(11)
PROGRAM(12)
PROGRAM(13)
PROGRAM(14)
PROGRAM(15)

char LICENSE[] SEC("license") = "Dual MIT/GPL";
