/* SPDX-License-Identifier: MIT */
/* The caller's stack goes through the walker's ring; number and time tell whose it is. */
#pragma once

#include "trace_task.h"

static __always_inline void send_stack(__u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct state *s = bpf_map_lookup_elem(&states, &cpu);
	__u32 me = bpf_get_current_pid_tgid();

	/* An event in an interrupt may come while another one's stack is walked. */
	if (!s || !me)
		return;
	if (s->busy) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	s->busy = me;
	s->rec.time = now;
	s->rec.period = 1;
	s->rec.addr = 0;
	s->rec.event = 0;
	s->rec.cpu = cpu;
	s->rec.flags = WALK_USER_MODE;
	s->rec.n_user = s->rec.n_kernel = s->rec.copy = s->rec.unwind = s->rec.n_fp =
		s->rec.n_known = 0;
	s->rec.end = UNWIND_NONE;
	s->rec.end_pc = 0;
	task_ids(s);
	if (s->rec.tid)
		walk_user(NULL, s, false);
	s->rec.ip = s->r[REG_PC];
	if (worth_a_copy(s))
		copy_stack(s);
	send(s);
	s->busy = 0;
}
