// SPDX-License-Identifier: MIT
/*
 * The stack walker: runs on every sample, walks the user stack over tables
 * that user space made from .eh_frame, and sends the sample with its chains
 * through a ring. Returns 0, so the kernel drops its own sample.
 *
 * Kept to what the verifier of 6.1 accepts: one bpf_loop over frames, small
 * bounded searches inside. See src/live/walker_abi.h for the maps.
 */
#include "walk_task.h"

struct copy_ctx {
	struct state *s;
	__u64 from;
};

/* A step of the stack copy: up to the next multiple of WALK_COPY_STEP, so that a read ends where a
 * page does. */
static long copy_step(__u32 i, struct copy_ctx *c)
{
	struct state *s = c->s;
	__u32 at = s->rec.copy;
	__u64 from = c->from + at;
	__u32 n = WALK_COPY_STEP - (from & (WALK_COPY_STEP - 1));

	if (at > WALK_COPY - WALK_COPY_STEP || n > WALK_COPY_STEP)
		return 1;
	if (bpf_probe_read_user(s->copy + sizeof(struct walk_regs) + at, n, (void *)from))
		return 1;
	s->rec.copy = at + n;
	return 0;
}

/* Whether user space could finish what ended like this, if it had the stack. */
static __always_inline bool worth_a_copy(struct state *s)
{
	__u32 end = s->rec.end;

	if (!config.copy_ns || s->rec.time + WALK_COPY_BURST * config.copy_ns < s->next_copy)
		return false;
	return end == UNWIND_NEEDS_FULL || end == UNWIND_NO_REGISTER || end == UNWIND_PENDING ||
	       end == UNWIND_NO_MAP;
}

static __always_inline void copy_stack(struct state *s)
{
	struct copy_ctx c = { .s = s, .from = s->r[REG_SP] };

	__builtin_memcpy(s->copy, s->r, sizeof(s->r));
	bpf_loop(WALK_COPY / WALK_COPY_STEP + 1, copy_step, &c, 0);
	/* One each copy_ns in the long run; a program that just began may take its share ahead. */
	s->next_copy = (s->next_copy > s->rec.time ? s->next_copy : s->rec.time) + config.copy_ns;
}

static __always_inline void send(struct state *s)
{
	__u64 size = sizeof(s->rec), flags = BPF_RB_NO_WAKEUP;
	__u32 n = s->rec.n_user + s->rec.n_kernel;

	if (s->rec.copy) {
		/* The copy lies behind a full chain, which is sent whole with it. */
		size = __builtin_offsetof(struct state, copy) -
		       __builtin_offsetof(struct state, rec) + sizeof(struct walk_regs) +
		       s->rec.copy;
		flags = 0;
	} else {
		size += n * 8ul;
	}
	if (s->rec.end == UNWIND_NO_MAP || s->rec.end == UNWIND_PENDING ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= config.wake_bytes)
		flags = 0;
	if (size > sizeof(*s) - __builtin_offsetof(struct state, rec) ||
	    bpf_ringbuf_output(&ring, &s->rec, size, flags))
		__sync_fetch_and_add(&lost, 1);
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
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp = 0;
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

char LICENSE[] SEC("license") = "Dual MIT/GPL";
