/* SPDX-License-Identifier: MIT */
/* Which tasks are traced, and what is known of each. */
#pragma once

#include "trace_take.h"

static __always_inline __u32 number_of(struct task_struct___t *t)
{
	if (!options.pidns_ino)
		return BPF_CORE_READ(t, pid);
	return pid_number_in(BPF_CORE_READ(t, thread_pid), options.pidns_ino);
}

static __always_inline void set_numbers(struct trace_task *s, struct task_struct___t *t)
{
	s->tid = number_of(t);
	s->pid = BPF_CORE_READ(t, pid) == BPF_CORE_READ(t, tgid)
			 ? s->tid
			 : number_of(BPF_CORE_READ(t, group_leader));
}

static __always_inline struct trace_task *storage(void *task, bool make)
{
	return bpf_task_storage_get(&tasks, task, NULL, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* A task met for the first time. */
static __always_inline struct trace_task *meet(struct task_struct___t *task)
{
	struct trace_task *s = storage(task, true);
	__u32 pid;

	if (!s) {
		__sync_fetch_and_add(&losses.tasks, 1);
		return NULL;
	}
	set_numbers(s, task);
	pid = s->pid;
	s->on = pid != options.own && !bpf_map_lookup_elem(&left_out, &pid);
	return s;
}

static __always_inline struct trace_task *current_task(void)
{
	struct task_struct___t *task = (void *)bpf_get_current_task_btf();
	struct trace_task *s = storage(task, false);

	if (!s && options.all)
		s = meet(task);
	if (!s || s->on == TRACE_OFF || !running)
		return NULL;
	if (options.by_uid && (__u32)bpf_get_current_uid_gid() != options.uid)
		return NULL;
	if (options.some_cpus) {
		__u32 cpu = bpf_get_smp_processor_id();

		if (!(cpus[(cpu / 64) & (TRACE_CPUS / 64 - 1)] >> (cpu & 63) & 1))
			return NULL;
	}
	return s;
}

static __always_inline void keep_comm(struct trace_task *s, struct task_struct___t *task)
{
	__u32 id = options.by == TRACE_BY_PROCESS ? s->pid : s->tid;
	struct trace_comm comm;

	if (options.by == TRACE_BY_NONE || (options.by == TRACE_BY_PROCESS && s->pid != s->tid))
		return;
	if (!bpf_probe_read_kernel(comm.comm, sizeof(comm.comm), task->comm))
		bpf_map_update_elem(&comms, &id, &comm, BPF_ANY);
}
