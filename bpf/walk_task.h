/* SPDX-License-Identifier: MIT */
/*
 * The task that is running: its numbers, its user registers, its user stack.
 */
#pragma once

#include "walk_step.h"

#define PF_FORKNOEXEC 0x00000040
#define PF_KTHREAD 0x00200000

struct mm_struct;
struct task_struct___k {
	unsigned int flags;
	int tgid;
	struct mm_struct *mm;
	struct task_struct___k *real_parent;
	unsigned in_execve : 1;
} __attribute__((preserve_access_index));

#if !defined(__TARGET_ARCH_x86)
struct pt_regs___k {
	__u64 regs[31], sp, pc, pstate;
} __attribute__((preserve_access_index));
#endif

/* The current task's numbers, in the namespace that is reported in. */
static __always_inline void current_ids(__u32 *pid, __u32 *tid)
{
	struct bpf_pidns_info ns;
	__u64 id;

	if (config.pidns_ino &&
	    !bpf_get_ns_current_pid_tgid(config.pidns_dev, config.pidns_ino, &ns, sizeof(ns))) {
		*pid = ns.tgid;
		*tid = ns.pid;
	} else {
		id = bpf_get_current_pid_tgid();
		*pid = id >> 32;
		*tid = (__u32)id;
	}
}

static __always_inline void task_ids(struct state *s)
{
	current_ids(&s->rec.pid, &s->rec.tid);
	s->tgid = s->rec.pid;
}

/* The user registers of the interrupted task. */
#if defined(__TARGET_ARCH_x86)
#	define USER32_CS 0x23
#	define COPY_REGS(s, p)                \
		do {                           \
			(s)->r[0] = (p)->rax;  \
			(s)->r[1] = (p)->rdx;  \
			(s)->r[2] = (p)->rcx;  \
			(s)->r[3] = (p)->rbx;  \
			(s)->r[4] = (p)->rsi;  \
			(s)->r[5] = (p)->rdi;  \
			(s)->r[6] = (p)->rbp;  \
			(s)->r[7] = (p)->rsp;  \
			(s)->r[8] = (p)->r8;   \
			(s)->r[9] = (p)->r9;   \
			(s)->r[10] = (p)->r10; \
			(s)->r[11] = (p)->r11; \
			(s)->r[12] = (p)->r12; \
			(s)->r[13] = (p)->r13; \
			(s)->r[14] = (p)->r14; \
			(s)->r[15] = (p)->r15; \
			(s)->r[16] = (p)->rip; \
		} while (0)
#endif

/* As they are, also where they are of no use. */
static __always_inline __u32 any_regs(struct bpf_perf_event_data *ctx, struct state *s, bool user)
{
	if (user) {
#if defined(__TARGET_ARCH_x86)
		COPY_REGS(s, &ctx->regs);
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
	/*
	 * Fields are read by a helper, not through the pointer: for each such load the verifier
	 * goes through all of the kernel's types several times, a millisecond altogether.
	 */
	struct task_struct___k *task = (void *)bpf_get_current_task_btf();

	/* No user stack, or no longer: a task on its way out has lost its memory. */
	if ((BPF_CORE_READ(task, flags) & PF_KTHREAD) || !BPF_CORE_READ(task, mm))
		return UNWIND_NONE;
#if defined(__TARGET_ARCH_x86)
	struct pt_regs *regs = (void *)s->copy;

	if (bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs((void *)task)))
		return UNWIND_NONE;
	COPY_REGS(s, regs);
	if ((__u16)regs->cs == USER32_CS)
		return UNWIND_ABI;
#else
	struct pt_regs___k *regs = (void *)bpf_task_pt_regs((void *)task);

	if (bpf_probe_read_kernel(s->r, sizeof(s->r), regs))
		return UNWIND_NONE;
	if (BPF_CORE_READ(regs, pstate) & 0x10)
		return UNWIND_ABI;
#endif
	return (__s64)s->r[REG_PC] <= 0 || !s->r[REG_SP] ? UNWIND_NONE : UNWIND_BOTTOM;
}

/* Between two programs: the registers are the old one's, the memory is the new one's, and no user
 * code waits for this. */
static __always_inline bool between_programs(void)
{
	struct task_struct___k *task = (void *)bpf_get_current_task_btf();

	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

static __always_inline __u32 user_regs(struct bpf_perf_event_data *ctx, struct state *s, bool user)
{
	__u32 end = any_regs(ctx, s, user);

	return end == UNWIND_BOTTOM && !user && between_programs() ? UNWIND_NONE : end;
}

/* A program that was just executed stands at its entry, which nobody called. */
static __always_inline void walk_entry(struct state *s)
{
	s->rec.end = any_regs(NULL, s, false);
	if (s->rec.end != UNWIND_BOTTOM)
		return;
	s->chain[0] = s->rec.end_pc = s->r[REG_PC];
	s->rec.n_user = 1;
}

/* A child that was just forked has what its parent has, until it execs. */
static __always_inline struct walk_proc *parent_list(struct state *s)
{
	struct task_struct___k *task = (void *)bpf_get_current_task_btf();
	__u32 tgid;

	/* Numbers of another namespace than the first cannot be had from here. */
	if (config.pidns_ino || !(BPF_CORE_READ(task, flags) & PF_FORKNOEXEC))
		return NULL;
	tgid = BPF_CORE_READ(task, real_parent, tgid);
	s->tgid = tgid;
	return bpf_map_lookup_elem(&procs, &tgid);
}

/* The process's list. It is the same as of the last sample as a rule, and then known at a glance.
 */
static __always_inline void take_list(struct state *s)
{
	__u32 tgid = s->tgid, first = s->first;
	struct walk_map *m = bpf_map_lookup_elem(&maps, &first);
	struct walk_proc *p;

	if (m && s->list_tgid == tgid && m->generation == s->list_generation)
		return;
	p = bpf_map_lookup_elem(&procs, &tgid);
	s->list_tgid = p ? tgid : 0;
	if (!p)
		p = parent_list(s);
	s->first = p ? p->first : 0;
	s->n_maps = p ? p->n : 0;
	s->list_generation = p ? p->generation : 0;
}

/*
 * What was found of the last stack's outer frames is as a rule what this one needs: ask for all of
 * it at once. One by one as the walk goes on, each is waited for before the next is known. Global,
 * to be verified once.
 */
#define OUTER 16
__noinline int fetch_known(struct state *s)
{
	__u64 all = 0, *ip;

	if (!s)
		return 0;
	ip = &s->chain[(s->n - OUTER) & (WALK_DEPTH - 1)]; /* of fewer, any will do */
#pragma unroll
	for (int i = 0; i < OUTER; i++) {
		all |= s->recent[RECENT_PLACE(RECENT(s, ip[i], 1))];
		/* or the compiler leaves it out, or makes all addresses first, on the stack */
		asm volatile("" : "+r"(all));
	}
	return 0;
}

static __always_inline void walk_user(struct bpf_perf_event_data *ctx, struct state *s, bool user)
{
	struct walk_ctx w = { .s = s };
	__u64 last, looked;

	s->rec.end = user_regs(ctx, s, user);
	if (s->rec.end != UNWIND_BOTTOM) /* anything but: there is a stack */
		return;
	take_list(s);
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
	s->is_return = s->by_fp = 0;
	s->generation = s->anew ? 0 : s->list_generation;
	fetch_known(s);
	s->n = s->size = 0;
	s->rec.end = UNWIND_DEPTH;
	s->has_map = s->generation && s->map_generation == s->generation;
	looked = bpf_loop(WALK_DEPTH + 1, step, &w, 0);
	last = s->n - 1ull;
	asm volatile("" : "+r"(last)); /* Linux 6.1 wants this very number to be compared */
	if (last >= WALK_DEPTH)
		return;
	s->rec.n_user = last + 1;
	s->rec.n_known = last >= looked ? last + 1 - looked : 0;
	s->rec.end_pc = s->chain[last];
	if (s->rec.end == UNWIND_BOTTOM)
		s->bottom = s->sp;
}
