// SPDX-License-Identifier: MIT
/*
 * The stack walker: runs on every sample, walks the user stack over tables
 * that user space made from .eh_frame, and sends the sample with its chains
 * through a ring. Returns 0, so the kernel drops its own sample.
 *
 * Kept to what the verifier of 6.1 accepts: one bpf_loop over frames, small
 * bounded searches inside. See src/live/walk/walker_abi.h for the maps.
 */
#include "offcpu.h"
#include "walk_hit.h"

static __noinline int walk(struct bpf_perf_event_data *ctx, __u32 event)
{
	__u32 cpu = bpf_get_smp_processor_id(), n;
	struct state *s = bpf_map_lookup_elem(&states, &cpu);
	long bytes;
	bool user;

	if (!s)
		return 0;
#if defined(__TARGET_ARCH_x86)
	s->rec.ip = ctx->regs.rip;
#else
	s->rec.ip = ctx->regs.pc;
#endif
	user = (__s64)s->rec.ip >= 0; /* the kernel's addresses are the upper half */
	s->rec.time = bpf_ktime_get_ns();
	s->rec.period = ctx->sample_period;
	s->rec.addr = ctx->addr;
	s->rec.event = event;
	s->rec.cpu = cpu;
	s->rec.flags = user ? WALK_USER_MODE : 0;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp =
		s->rec.n_known = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
	if (config.user && s->rec.tid)
		walk_user(ctx, s, user);
	n = s->rec.n_user;
	if (config.kernel && !user && n <= WALK_DEPTH) {
		__u32 want = config.kernel_depth * 8;

		if (want > WALK_KERNEL * 8)
			want = WALK_KERNEL * 8;
		bytes = bpf_get_stack(ctx, &s->chain[n], want, 0);
		if (bytes > 0)
			s->rec.n_kernel = bytes / 8;
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

#include "walk_check.h"

SEC("tp_btf/sched_switch")
int off_switch(__u64 *ctx) /* preempt, prev, next */
{
	ended_unseen((void *)ctx[1]);
	if (!ctx[0])
		switched_out(ctx, (void *)ctx[1]);
	switched_in((void *)ctx[2]);
	return 0;
}

SEC("tp_btf/sched_waking")
int off_waking(__u64 *ctx) /* task */
{
	__u32 tid = task_nr((void *)ctx[0]);
	struct walk_off_wait *w = bpf_map_lookup_elem(&off_waits, &tid);
	__u64 salt = bpf_get_current_pid_tgid(), waker;

	if (!w || w->waker || !off_on)
		return 0;
	waker = take_stack(ctx, salt);
	/* it may have woken up meanwhile */
	w = bpf_map_lookup_elem(&off_waits, &tid);
	if (w)
		w->waker = waker;
	return 0;
}

/* Children of what is recorded are recorded, too. */
SEC("tp_btf/sched_process_fork")
int off_fork(__u64 *ctx) /* parent, child */
{
	__u32 tid = task_nr((void *)ctx[0]), child = task_nr((void *)ctx[1]);
	__u32 *on = bpf_map_lookup_elem(&off_targets, &tid), value;

	if (!on || !child)
		return 0;
	value = *on;
	if (bpf_map_update_elem(&off_targets, &child, &value, BPF_ANY))
		__sync_fetch_and_add(&off_lost_tasks, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int off_exec(__u64 *ctx) /* task, its number before, binprm */
{
	target_execs(task_nr((void *)ctx[0]), ctx[1]);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int off_exit(__u64 *ctx) /* task */
{
	__u32 tid = task_nr((void *)ctx[0]);

	ended_unseen((void *)ctx[0]);
	bpf_map_delete_elem(&off_targets, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
