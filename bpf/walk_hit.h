/* SPDX-License-Identifier: MIT */
/*
 * The user stacks of tracepoints and probes. The hit itself is the kernel's own sample, which has
 * everything but these stacks; they go through the ring by thread and time, and user space brings
 * both together (src/live/walk/walked.h).
 *
 * That works because a thread's user stack does not change while it is in the kernel: what
 * was walked last before the hit is the hit's, also when an interrupt came in between. Where
 * somebody else recorded the same tracepoint first, the sample comes before its stack; the
 * registers tell which is which.
 *
 * The programs are attached beside the recorded events and not to them: a program that is attached
 * to an event takes its hits away whenever the CPU is busy with another program.
 */
#pragma once

#include "walk_fn.h"

/* System calls whose entries and exits are recorded, a bit each. */
__u64 hit_enter[WALK_CALLS / 64];
__u64 hit_exit[WALK_CALLS / 64];

#if defined(__TARGET_ARCH_x86)
struct pt_regs___call {
	unsigned long orig_ax;
} __attribute__((preserve_access_index));
#	define CALL_NR(regs) BPF_CORE_READ(regs, orig_ax)
#else
struct pt_regs___call {
	int syscallno;
} __attribute__((preserve_access_index));
#	define CALL_NR(regs) BPF_CORE_READ(regs, syscallno)
#endif

static __always_inline void hit_walk(struct state *s, bool entry)
{
	s->rec.time = bpf_ktime_get_ns();
	s->rec.event = WALK_HIT;
	s->rec.cpu = bpf_get_smp_processor_id();
	s->rec.ip = s->rec.period = s->rec.addr = s->rec.flags = 0;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp =
		s->rec.n_known = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
	if (entry)
		walk_entry(s);
	else
		walk_user(NULL, s, false);
	if (s->rec.end != UNWIND_NONE) {
#pragma unroll
		for (int i = 0; i < REGS; i++)
			s->rec.addr = walk_mix(s->rec.addr, s->r[i]);
	}
	if (!entry && worth_a_copy(s))
		copy_stack(s);
}

static __always_inline int hit_now(bool entry)
{
	__u32 me = bpf_get_current_pid_tgid(), pid, tid;
	struct state *s;

	current_ids(&pid, &tid);
	if (!me || !tid || !wanted(tid))
		return 0;
	s = free_state();
	if (!s) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	s->busy = me;
	hit_walk(s, entry);
	if (s->busy == me) /* else another task has changed it meanwhile */
		send(s);
	s->busy = 0;
	return 0;
}

static __noinline int hit(void)
{
	return hit_now(false);
}

SEC("raw_tp")
int hit_tracepoint(void *ctx)
{
	return hit();
}

/* ctx as off_exec() has it. That one may run later, but a command is recorded from its exec on. */
SEC("raw_tp")
int hit_exec(__u64 *ctx)
{
	__u32 pid, tid;

	current_ids(&pid, &tid);
	target_execs(tid, ctx[1]);
	return hit_now(true);
}

SEC("raw_tp")
int hit_sys_enter(__u64 *ctx) /* registers, number */
{
	__u32 nr = ctx[1];

	return hit_enter[(nr / 64) & (WALK_CALLS / 64 - 1)] >> (nr & 63) & 1 ? hit() : 0;
}

SEC("raw_tp")
int hit_sys_exit(__u64 *ctx) /* registers, result */
{
	struct pt_regs___call *regs = (void *)ctx[0];
	__u32 nr = CALL_NR(regs);

	return hit_exit[(nr / 64) & (WALK_CALLS / 64 - 1)] >> (nr & 63) & 1 ? hit() : 0;
}

SEC("kprobe")
int hit_probe(void *ctx)
{
	return hit();
}
