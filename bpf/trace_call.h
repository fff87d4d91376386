/* SPDX-License-Identifier: MIT */
/* System calls as they begin and end: summed up, or sent. */
#pragma once

#include "trace_stack.h"

static __always_inline __u32 abi_of(struct task_struct___t *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status >> 1 & 1; /* TS_COMPAT */
#else
	return task->thread_info.flags >> 22 & 1; /* TIF_32BIT */
#endif
}

static __always_inline struct trace_plan *plan_of(__s32 nr, __u32 abi)
{
	__u32 key = (__u32)nr < TRACE_CALLS - 1 ? nr : TRACE_CALLS - 1;

	key += abi ? TRACE_CALLS : 0;
	return bpf_map_lookup_elem(&plans, &key);
}

static __always_inline void read_args(struct trace_record *r, struct pt_regs___t *regs)
{
#if defined(__TARGET_ARCH_x86)
	if (r->abi) {
		r->arg[0] = (__u32)regs->bx;
		r->arg[1] = (__u32)regs->cx;
		r->arg[2] = (__u32)regs->dx;
		r->arg[3] = (__u32)regs->si;
		r->arg[4] = (__u32)regs->di;
		r->arg[5] = (__u32)regs->bp;
		return;
	}
	r->arg[0] = regs->di;
	r->arg[1] = regs->si;
	r->arg[2] = regs->dx;
	r->arg[3] = regs->r10;
	r->arg[4] = regs->r8;
	r->arg[5] = regs->r9;
#else
	r->arg[0] = regs->orig_x0;
	r->arg[1] = regs->regs[1];
	r->arg[2] = regs->regs[2];
	r->arg[3] = regs->regs[3];
	r->arg[4] = regs->regs[4];
	r->arg[5] = regs->regs[5];
#endif
}

static __always_inline void begin_record(struct call *c, struct trace_task *s, __u32 kind)
{
	c->rec.kind = kind;
	c->rec.flags = 0;
	c->rec.n = 0;
	c->rec.failed = 0;
	c->rec.ret = 0;
	c->rec.nr = s->nr;
	c->rec.abi = s->abi;
	c->rec.pid = s->pid;
	c->rec.tid = s->tid;
	c->rec.start = s->start;
}

static __always_inline struct call *call_of(void *task, bool make)
{
	struct call *c =
		bpf_task_storage_get(&calls, task, NULL, make ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);

	if (!c && make)
		__sync_fetch_and_add(&losses.tasks, 1);
	return c;
}

static __always_inline void send_record(struct call *c)
{
	__u32 n = c->rec.n;
	__u64 flags = BPF_RB_NO_WAKEUP;

	if (n > TRACE_DATA)
		n = TRACE_DATA;
	if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= options.wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_output(&records, c, sizeof(c->rec) + n, flags))
		__sync_fetch_and_add(&losses.events, 1);
}

static __always_inline void add_square(struct trace_sum *v, __u64 ns)
{
	__u64 lo, hi = 0;

	if (ns >> 32) {
		ns >>= 16;
		if (ns >> 32)
			ns = 0xffffffff;
		ns *= ns;
		lo = ns << 32;
		hi = ns >> 32;
	} else {
		lo = ns * ns;
	}
	v->square[0] += lo;
	v->square[1] += hi + (v->square[0] < lo);
}

static __always_inline void sum_up(struct trace_task *s, __u64 ns, __s64 ret, bool known)
{
	struct trace_sum_key key = { .nr = s->nr, .abi = s->abi };
	struct trace_sum *v;

	if (options.by != TRACE_BY_NONE)
		key.id = options.by == TRACE_BY_PROCESS ? s->pid : s->tid;
	v = bpf_map_lookup_elem(&sums, &key);
	if (!v) {
		struct trace_sum none = { 0 };

		bpf_map_update_elem(&sums, &key, &none, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&sums, &key);
		if (!v) {
			__sync_fetch_and_add(&losses.sums, 1);
			return;
		}
	}
	if (!v->calls || ns < v->min)
		v->min = ns;
	if (ns > v->max)
		v->max = ns;
	v->calls++;
	v->ns += ns;
	add_square(v, ns);
	if (ret < 0 && ret >= -4095) {
		struct trace_error_key e = { .call = key, .error = -ret };
		__u64 one = 1, *n = bpf_map_lookup_elem(&errors, &e);

		v->errors++;
		if (n)
			__sync_fetch_and_add(n, 1);
		else if (bpf_map_update_elem(&errors, &e, &one, BPF_NOEXIST)) {
			n = bpf_map_lookup_elem(&errors, &e);
			if (n)
				__sync_fetch_and_add(n, 1);
		}
	}
}

SEC("tp_btf/sys_enter")
int enter(__u64 *ctx) /* regs, number */
{
	struct task_struct___t *task;
	struct trace_task *s = current_task();
	struct trace_plan *plan;
	struct call *c;

	if (!s)
		return 0;
	task = (void *)bpf_get_current_task_btf();
	s->nr = ctx[1];
	s->abi = abi_of(task);
	plan = plan_of(s->nr, s->abi);
	if (!plan || !(plan->flags & TRACE_WANTED) ||
	    (s->on == TRACE_FROM_EXEC && !(plan->flags & TRACE_IS_EXEC))) {
		s->state = TRACE_OUTSIDE;
		return 0;
	}
	s->state = TRACE_INSIDE;
	if (options.events) {
		c = call_of(task, true);
		if (!c)
			return 0;
		begin_record(c, s, TRACE_CALL);
		read_args(&c->rec, (void *)ctx[0]);
		take(c, plan, false);
	}
	s->start = bpf_ktime_get_ns();
	return 0;
}

/* The arguments of a program that has just begun lie in its own memory. */
static __always_inline void take_new_arguments(struct call *c, struct task_struct___t *task)
{
	__u64 start = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);

	if (end > start)
		read_bytes(c, 1, TRACE_TAKE_EXEC, start, end - start, 0, true);
}

static __always_inline void send_call(__u64 *ctx, struct trace_task *s, struct trace_plan *plan,
				      __s64 ret, __u64 now, bool stack)
{
	struct task_struct___t *task = (void *)bpf_get_current_task_btf();
	struct call *c = call_of(task, s->state == TRACE_UNKNOWN);

	if (!c)
		return;
	if (s->state == TRACE_UNKNOWN) {
		s->start = now;
		begin_record(c, s, TRACE_CALL);
		c->rec.flags = TRACE_NO_START;
		c->rec.failed = ~0u; /* all is read now */
		read_args(&c->rec, (void *)ctx[0]);
	}
	c->rec.start = s->start;
	c->rec.end = now;
	c->rec.ret = ret;
	c->rec.cpu = bpf_get_smp_processor_id();
	c->rec.pid = s->pid; /* an exec may have changed them */
	c->rec.tid = s->tid;
	if (plan->flags & TRACE_IS_EXEC && ret == 0)
		take_new_arguments(c, task);
	else
		take(c, plan, true);
	bpf_probe_read_kernel(c->rec.comm, sizeof(c->rec.comm), task->comm);
	send_record(c);
	if (stack)
		send_stack(now);
}

static __always_inline int left(__u64 *ctx, bool stack) /* regs, result */
{
	struct trace_task *s = current_task();
	__s64 ret = ctx[1];
	__u64 now;
	struct trace_plan *plan;

	if (!s || s->state == TRACE_OUTSIDE)
		return 0;
	now = bpf_ktime_get_ns();
	if (s->state == TRACE_UNKNOWN) {
		struct pt_regs___t *regs = (void *)ctx[0];

#if defined(__TARGET_ARCH_x86)
		s->nr = regs->orig_ax;
#else
		s->nr = regs->syscallno;
#endif
		s->abi = abi_of((void *)bpf_get_current_task_btf());
	}
	plan = plan_of(s->nr, s->abi);
	if (!plan || !(plan->flags & TRACE_WANTED))
		goto out;
	if (s->abi)
		ret = (__s32)ret;
	if (s->on == TRACE_FROM_EXEC)
		goto out; /* an exec that failed: the next folder of PATH may have it */
	if (options.failed && (ret >= 0 || ret < -4095))
		goto out;
	if (options.min_ns && (s->state == TRACE_UNKNOWN || now - s->start < options.min_ns))
		goto out;
	if (options.sums && s->state == TRACE_INSIDE)
		sum_up(s, now - s->start, ret, true);
	if (options.events)
		send_call(ctx, s, plan, ret, now, stack);
out:
	s->state = TRACE_OUTSIDE;
	return 0;
}

SEC("tp_btf/sys_exit")
int leave(__u64 *ctx)
{
	return left(ctx, false);
}

/* The same with the caller's stack. */
SEC("tp_btf/sys_exit")
int leave_stack(__u64 *ctx)
{
	return left(ctx, true);
}
