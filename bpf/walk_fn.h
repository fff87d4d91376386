/* SPDX-License-Identifier: MIT */
/*
 * The walk as a function of other programs: kymo run puts this code behind that of
 * its own programs and calls it for ustack. So it must do with what every kind of
 * tracing program may do.
 *
 * One may interrupt another in the middle of a walk (a timer in a system call), so
 * each CPU has a few states.
 *
 * There are two: walk_fn, and walk_early, which only copies the stack. The kernel checks that one
 * in a fraction of the time, so it serves until the other has been checked.
 */
#pragma once

#include "offcpu.h"

#define FN_FRAMES 127

struct fn_frames {
	__u64 ip[FN_FRAMES];
};

/*
 * A stack that user space will finish: it gets a number, and the copy goes there once. Where it
 * begins and what could be walked, of which h is the hash, tells one from another.
 */
static __always_inline long fn_later(struct state *s, __u64 *to, __u64 depth, __u64 h)
{
	__u8 one = 1;

	h = walk_mix(walk_mix(h, s->tgid), s->r[REG_SP]) | 1;
	if (!bpf_map_lookup_elem(&off_stacks, &h)) {
		s->rec.ip = h;
		s->rec.flags = depth;
		bpf_get_current_comm(s->rec.comm, sizeof(s->rec.comm));
		s->rec.event = WALK_FN_MISS;
		if (worth_a_copy(s)) {
			s->rec.event = WALK_OFF_STACK;
			copy_stack(s);
		}
		if (!send(s) || s->rec.event == WALK_FN_MISS)
			return 0;
		bpf_map_update_elem(&off_stacks, &h, &one, BPF_ANY);
	}
	*to = h;
	return -1;
}

static __always_inline void fn_begin(struct state *s)
{
	s->rec.time = bpf_ktime_get_ns();
	s->rec.cpu = 0;
	s->rec.flags = 0;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp =
		s->rec.n_known = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
}

static __always_inline long fn_early(struct state *s, __u64 *to, __u64 depth)
{
	fn_begin(s);
	if (user_regs(NULL, s, false) != UNWIND_BOTTOM)
		return 0;
	s->chain[0] = s->rec.end_pc = s->r[REG_PC];
	s->rec.n_user = 1;
	s->rec.end = UNWIND_NO_MAP; /* whatever may be known of it */
	return fn_later(s, to, depth, walk_mix(depth, s->chain[0]));
}

static __always_inline long fn_walk(struct state *s, __u64 *to, __u64 depth)
{
	struct hash_ctx h = { .s = s, .h = depth };
	__u64 n;

	fn_begin(s);
	walk_user(NULL, s, false);
	n = s->rec.n_user;
	if (s->rec.end == UNWIND_NO_MAP || s->rec.end == UNWIND_PENDING ||
	    s->rec.end == UNWIND_NEEDS_FULL || s->rec.end == UNWIND_NO_REGISTER) {
		bpf_loop(s->rec.n_user, hash_step, &h, 0);
		return fn_later(s, to, depth, h.h);
	}
	if (depth > FN_FRAMES)
		depth = FN_FRAMES;
	if (n > depth)
		n = depth;
	/* Linux 6.1 does not see that this follows, and the compiler does. */
	asm volatile("" : "+r"(n));
	if (n > FN_FRAMES)
		return 0;
	if (bpf_probe_read_kernel(to, n * 8, s->chain))
		return 0;
	return n;
}

/* A state of this CPU that nobody uses. */
static __always_inline struct state *free_state(void)
{
	__u32 at = config.fn_states + bpf_get_smp_processor_id() * WALK_FN_LEVELS;
	struct state *s;

	for (int i = 0; i < WALK_FN_LEVELS; i++, at++) {
		s = bpf_map_lookup_elem(&states, &at);
		if (s && !s->busy)
			return s;
	}
	return NULL;
}

static __always_inline long fn_stack(struct fn_frames *to, __u64 depth, bool early)
{
	struct state *s = free_state();
	__u32 me = bpf_get_current_pid_tgid();
	long n;

	if (!s || !me || !to)
		return 0;
	s->busy = me;
	n = early ? fn_early(s, to->ip, depth) : fn_walk(s, to->ip, depth);
	if (s->busy != me) /* a task that ran meanwhile took it, too, and may have changed it */
		return 0;
	s->busy = 0;
	return n;
}

/*
 * The current task's user stack, innermost first: how many frames, 0 when it cannot be
 * told, -1 when the first is the number that user space will know it by. Global, to be verified
 * once, whatever else a program does before or after it.
 */
__noinline long walk_fn(struct fn_frames *to, __u64 depth)
{
	return fn_stack(to, depth, false);
}

__noinline long walk_early(struct fn_frames *to, __u64 depth)
{
	return fn_stack(to, depth, true);
}

/* Never loaded: libbpf makes the code complete, and live/walk/walker_fn.c takes it from there. */
#define FN_PROGRAM(name, function)                                          \
	SEC("kymo_fn")                                                      \
	int name(void *ctx)                                                 \
	{                                                                   \
		__u32 key = 0;                                              \
		struct state *s = bpf_map_lookup_elem(&states, &key);       \
		__u64 depth = FN_FRAMES;                                    \
                                                                            \
		if (!s)                                                     \
			return 0;                                           \
		/* or the compiler makes a function for this number only */ \
		asm volatile("" : "+r"(depth));                             \
		return function((struct fn_frames *)s->copy, depth);        \
	}
FN_PROGRAM(fn_program, walk_fn)
FN_PROGRAM(fn_early_program, walk_early)
