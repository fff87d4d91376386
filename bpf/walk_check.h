/* SPDX-License-Identifier: MIT */
/*
 * For tests: every stack is walked anew and then as usual, with what is remembered, and the two are
 * compared. Takes the place of walk0.
 */
#pragma once

#include "offcpu.h"

__u64 check_done;
__u64 check_wrong; /* the same stack anew, twice, and another one from memory */

static __always_inline __u64 check_hash(struct state *s)
{
	struct hash_ctx h = { .s = s, .h = 1 };

	bpf_loop(s->rec.n_user, hash_step, &h, 0);
	h.h = walk_mix(walk_mix(h.h, s->rec.n_user), s->rec.end_pc);
	return walk_mix(walk_mix(h.h, s->rec.end), s->rec.unwind);
}

static __noinline __u64 check_anew(struct bpf_perf_event_data *ctx, struct state *s)
{
#if defined(__TARGET_ARCH_x86)
	bool user = (__s64)ctx->regs.rip >= 0;
#else
	bool user = (__s64)ctx->regs.pc >= 0;
#endif

	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = 0;
	s->rec.end_pc = 0;
	task_ids(s);
	s->anew = 1;
	walk_user(ctx, s, user);
	s->anew = 0;
	return check_hash(s);
}

SEC("perf_event")
int walk_check(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), end;
	struct state *s = bpf_map_lookup_elem(&states, &cpu);
	__u64 anew;

	if (!s)
		return 0;
	anew = check_anew(ctx, s);
	end = s->rec.end;
	walk(ctx, 0);
	/* What the tables do not know yet, or no longer, may be remembered. */
	if (end == UNWIND_PENDING || end == UNWIND_NO_MAP || !s->rec.tid)
		return 0;
	__sync_fetch_and_add(&check_done, 1);
	/* Tables and lists may have changed between the two. */
	if (check_hash(s) != anew && check_anew(ctx, s) == anew)
		__sync_fetch_and_add(&check_wrong, 1);
	return 0;
}
