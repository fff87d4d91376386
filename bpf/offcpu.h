/* SPDX-License-Identifier: MIT */
/*
 * Time off the CPU: from the switch away from a task that waits to the switch
 * back, summed by task, stack and state. A stack is sent through the ring the
 * first time it is met and known by its hash from then on; so what is summed is
 * small, and user space needs to look at it only now and then.
 *
 * Waits of at least config.off_direct_ns are sent one by one instead. With
 * config.off_wakers the one who wakes a task leaves its stack, too.
 */
#pragma once

#include "pid_types.h"
#include "walk_send.h"

#define STATE_WAITS 3 /* TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE */

__u32 off_on;	 /* user space lets it run */
__u32 off_table; /* which of the two tables of sums is written to */
__u64 off_cpus[WALK_OFF_CPUS / 64];
__u64 off_entries, off_lost_sums, off_lost_tasks, off_lost_ends;

/* Threads that are recorded, and whether they are already (a command waits for its exec). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u32);
} off_targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct walk_off_wait);
} off_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u8);
} off_stacks SEC(".maps");

struct sums {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, struct walk_off_key);
	__type(value, struct walk_off_sum);
};
struct sums off_sums0 SEC(".maps");
struct sums off_sums1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, WALK_OFF_CGROUPS);
	__uint(key_size, 4);
	__uint(value_size, 4);
} off_cgroups SEC(".maps");

/* --- tasks ------------------------------------------------------------------------------------ */

struct task_struct___off {
	unsigned int __state;
	int pid;
	unsigned int flags;
	struct pid___k *thread_pid;
} __attribute__((preserve_access_index));

/* The thread's number, in the namespace that is reported in. 0: it is not in it. */
static __always_inline __u32 task_nr(struct task_struct___off *t)
{
	if (!config.pidns_ino)
		return t->pid;
	return pid_number_in(BPF_CORE_READ(t, thread_pid), config.pidns_ino);
}

static __always_inline bool in_cgroups(void)
{
	for (__u32 i = 0; i < WALK_OFF_CGROUPS; i++) {
		if (i >= config.off_cgroups)
			break;
		if (bpf_current_task_under_cgroup(&off_cgroups, i) == 1)
			return true;
	}
	return false;
}

/* Is the current thread to be recorded, on this CPU? */
static __always_inline bool wanted(__u32 tid)
{
	__u32 cpu = bpf_get_smp_processor_id(), *on;

	if (config.off_some_cpus &&
	    !(off_cpus[(cpu / 64) & (WALK_OFF_CPUS / 64 - 1)] >> (cpu & 63) & 1))
		return false;
	if (config.off_cgroups && !in_cgroups())
		return false;
	if (config.off_all)
		return true;
	on = bpf_map_lookup_elem(&off_targets, &tid);
	return on && *on;
}

/* A command begins with its exec; a thread that execs gets its process's number. */
static __always_inline void target_execs(__u32 tid, __u32 old)
{
	__u32 one = 1;

	if (!config.pidns_ino && old != tid && bpf_map_delete_elem(&off_targets, &old) == 0)
		bpf_map_update_elem(&off_targets, &tid, &one, BPF_ANY);
	if (bpf_map_lookup_elem(&off_targets, &tid))
		bpf_map_update_elem(&off_targets, &tid, &one, BPF_ANY);
}

/* --- stacks ----------------------------------------------------------------------------------- */

struct hash_ctx {
	struct state *s;
	__u64 h;
};

static long hash_step(__u32 i, struct hash_ctx *c)
{
	if (i >= WALK_DEPTH + WALK_KERNEL)
		return 1;
	c->h = walk_mix(c->h, c->s->chain[i]);
	return 0;
}

/*
 * The current task's stack: its hash, 0 when it could not be told to user space.
 * Other tasks' stacks of the same addresses are the same stack, unless the walk
 * did not reach the bottom (user space may find different ends then) or who it
 * was matters (salt).
 */
static __always_inline __u64 take_stack(void *ctx, __u64 salt)
{
	__u32 cpu = bpf_get_smp_processor_id() + config.off_states, n;
	struct state *s = bpf_map_lookup_elem(&states, &cpu);
	struct hash_ctx h = { .s = s };
	__u8 one = 1;
	long bytes;

	if (!s)
		return 0;
	s->rec.time = bpf_ktime_get_ns();
	s->rec.event = WALK_OFF_STACK;
	s->rec.cpu = cpu - config.off_states;
	s->rec.flags = salt ? WALK_WAKER : 0;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp =
		s->rec.n_known = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
	if (config.user && s->rec.tid)
		walk_user(NULL, s, false);
	n = s->rec.n_user;
	if (config.kernel && n <= WALK_DEPTH) {
		bytes = bpf_get_stack(ctx, &s->chain[n], WALK_KERNEL * 8, 0);
		if (bytes > 0)
			s->rec.n_kernel = bytes / 8;
	}
	h.h = salt;
	bpf_loop(s->rec.n_user + s->rec.n_kernel, hash_step, &h, 0);
	if (s->rec.end != UNWIND_BOTTOM && s->rec.end != UNWIND_NONE)
		h.h = walk_mix(walk_mix(h.h, s->tgid), s->r[REG_SP]);
	if (!h.h)
		h.h = 1;
	if (bpf_map_lookup_elem(&off_stacks, &h.h))
		return h.h;
	s->rec.ip = h.h;
	bpf_get_current_comm(s->rec.comm, sizeof(s->rec.comm));
	if (worth_a_copy(s))
		copy_stack(s);
	if (!send(s))
		return 0;
	bpf_map_update_elem(&off_stacks, &h.h, &one, BPF_ANY);
	return h.h;
}

/* --- waits ------------------------------------------------------------------------------------ */

static __always_inline void sum_up(struct walk_off_wait *w, __u64 now)
{
	struct walk_off_key key = { .stack = w->stack,
				    .waker = w->waker,
				    .pid = w->pid,
				    .tid = w->tid,
				    .state = w->state };
	struct walk_off_sum *sum, first = {
		.ns = now - w->since, .count = 1, .last = now, .cpu = bpf_get_smp_processor_id()
	};
	void *table = off_table ? (void *)&off_sums1 : (void *)&off_sums0;
	long err;

	sum = bpf_map_lookup_elem(table, &key);
	if (!sum) {
		err = bpf_map_update_elem(table, &key, &first, BPF_NOEXIST);
		if (!err) {
			__sync_fetch_and_add(&off_entries, 1);
			return;
		}
		sum = bpf_map_lookup_elem(table, &key);
	}
	if (sum) {
		__sync_fetch_and_add(&sum->ns, first.ns);
		__sync_fetch_and_add(&sum->count, 1);
		sum->last = now;
	} else {
		__sync_fetch_and_add(&off_lost_sums, 1);
	}
}

static __always_inline bool tell_one(struct walk_off_wait *w, __u64 now)
{
	struct walk_sample r = { .time = now,
				 .ip = w->stack,
				 .period = now - w->since,
				 .addr = w->waker,
				 .pid = w->pid,
				 .tid = w->tid,
				 .cpu = bpf_get_smp_processor_id(),
				 .flags = w->state,
				 .event = WALK_OFF_WAIT };

	return bpf_ringbuf_output(&ring, &r, sizeof(r), BPF_RB_NO_WAKEUP) == 0;
}

static __always_inline void switched_in(struct task_struct___off *next)
{
	__u32 tid = task_nr(next);
	struct walk_off_wait *w = bpf_map_lookup_elem(&off_waits, &tid);
	__u64 now = bpf_ktime_get_ns();

	if (!w)
		return;
	if (off_on && now > w->since) {
		if (!config.off_direct_ns || now - w->since < config.off_direct_ns ||
		    !tell_one(w, now))
			sum_up(w, now);
	}
	bpf_map_delete_elem(&off_waits, &tid);
}

/*
 * Whoever runs does not wait. Kernels that hide some tasks from tracing do not tell of the switch
 * from such a task, so a wait may end unseen: nobody knows how long it was.
 */
static __always_inline void ended_unseen(struct task_struct___off *running)
{
	__u32 tid = task_nr(running);

	if (bpf_map_lookup_elem(&off_waits, &tid) && bpf_map_delete_elem(&off_waits, &tid) == 0)
		__sync_fetch_and_add(&off_lost_ends, 1);
}

static __always_inline void switched_out(void *ctx, struct task_struct___off *prev)
{
	struct walk_off_wait w = { 0 };
	__u32 pid, tid;

	if (!off_on || !(prev->__state & STATE_WAITS))
		return;
	if ((prev->flags & PF_KTHREAD) && !config.off_kthreads)
		return;
	current_ids(&pid, &tid); /* still prev's */
	if (!tid || !wanted(tid))
		return;
	w.state = prev->__state & STATE_WAITS;
	w.tid = tid;
	w.pid = pid;
	w.cpu = bpf_get_smp_processor_id();
	w.stack = take_stack(ctx, 0);
	w.since = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&off_waits, &tid, &w, BPF_ANY))
		__sync_fetch_and_add(&off_lost_tasks, 1);
}
