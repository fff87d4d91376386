/* SPDX-License-Identifier: MIT */
/*
 * From a walked stack to the ring, with a copy of the stack where the walk could
 * not be finished here.
 */
#pragma once

#include "walk_task.h"

#define LOOK_EVERY 16	   /* samples a CPU, at how much waits */
#define CALL_NS 2000000ull /* between two calls for what is missing */

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

/*
 * Whether user space could finish what ended like this, if it had the stack. Copies
 * are large: one each config.copy_ns, but some in a row when there were none for a
 * while, as when many threads begin at once.
 */
static __always_inline bool worth_a_copy(struct state *s)
{
	__u32 end = s->rec.end;
	__u64 credit;

	if (!config.copy_ns || (end != UNWIND_NEEDS_FULL && end != UNWIND_NO_REGISTER &&
				end != UNWIND_PENDING && end != UNWIND_NO_MAP))
		return false;
	credit = s->rec.time - s->last_copy;
	if (credit > config.copy_burst * config.copy_ns)
		credit = config.copy_burst * config.copy_ns;
	if (credit < config.copy_ns)
		return false;
	s->last_copy = s->rec.time - credit + config.copy_ns;
	return true;
}

static __always_inline void copy_stack(struct state *s)
{
	struct copy_ctx c = { .s = s, .from = s->r[REG_SP] };

	/* One call instead of two instructions a register. */
	bpf_probe_read_kernel(s->copy, sizeof(s->r), s->r);
	bpf_loop(WALK_COPY / WALK_COPY_STEP + 1, copy_step, &c, 0);
}

static __always_inline bool put(struct state *s, __u64 size, __u64 flags)
{
	return size <= __builtin_offsetof(struct state, recent) -
			       __builtin_offsetof(struct state, rec) &&
	       !bpf_ringbuf_output(&ring, &s->rec, size, flags);
}

/*
 * False when the ring had no room. The reader is woken up by force or not at all: the kernel itself
 * would wake it only at the record that it waits for, when all before have been read.
 */
static __always_inline bool send(struct state *s)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	/* User space may not know yet what is missing; it need not hear so of every sample. */
	if ((s->rec.end == UNWIND_NO_MAP || s->rec.end == UNWIND_PENDING) &&
	    s->rec.time - s->last_call > CALL_NS) {
		s->last_call = s->rec.time;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	if (!(++s->sent & (LOOK_EVERY - 1)) &&
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= config.wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	if (s->rec.copy) {
		/* The copy lies behind a full chain, which is sent whole with it. */
		if (put(s,
			__builtin_offsetof(struct state, copy) -
				__builtin_offsetof(struct state, rec) + sizeof(struct walk_regs) +
				s->rec.copy,
			flags))
			return true;
		s->rec.copy = 0; /* without it there may be room */
	}
	if (put(s, sizeof(s->rec) + (s->rec.n_user + s->rec.n_kernel) * 8ul, flags))
		return true;
	__sync_fetch_and_add(&lost, 1);
	return false;
}
