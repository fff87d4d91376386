/* SPDX-License-Identifier: MIT */
/* Events besides system calls: tracepoints and page faults. */
#pragma once

#include "trace_stack.h"

struct other {
	struct trace_record rec;
	__u8 raw[TRACE_RAW];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct other);
} others SEC(".maps");

static __always_inline struct other *other(__u32 kind)
{
	struct trace_task *s = current_task();
	__u32 zero = 0;
	struct other *o;

	if (!s || s->on != TRACE_ON)
		return NULL;
	o = bpf_map_lookup_elem(&others, &zero);
	if (!o)
		return NULL;
	o->rec.kind = kind;
	o->rec.flags = 0;
	o->rec.start = o->rec.end = bpf_ktime_get_ns();
	o->rec.pid = s->pid;
	o->rec.tid = s->tid;
	o->rec.abi = 0;
	o->rec.cpu = bpf_get_smp_processor_id();
	o->rec.n = 0;
	bpf_get_current_comm(o->rec.comm, sizeof(o->rec.comm));
	return o;
}

static __always_inline void send_other(struct other *o)
{
	__u64 n = o->rec.n;

	FIXED(n);
	if (n > TRACE_RAW)
		n = TRACE_RAW;
	if (bpf_ringbuf_output(&records, o, sizeof(o->rec) + n, 0))
		__sync_fetch_and_add(&losses.events, 1);
}

/*
 * A tracepoint; the cookie has its number, and how long its record is. 0 would hide it from the
 * perf events of others.
 */
static __always_inline int happen(void *ctx, bool stack)
{
	struct other *o = other(TRACE_EVENT);
	__u64 cookie = bpf_get_attach_cookie(ctx), n = cookie >> 32;

	if (!o)
		return 1;
	o->rec.nr = (__u32)cookie;
	if (n > TRACE_RAW)
		n = TRACE_RAW;
	if (n && bpf_probe_read_kernel(o->raw, n, ctx))
		n = 0;
	o->rec.n = n;
	send_other(o);
	if (stack)
		send_stack(o->rec.end);
	return 1;
}

SEC("tracepoint")
int happened(void *ctx)
{
	return happen(ctx, false);
}

SEC("tracepoint")
int happened_stack(void *ctx)
{
	return happen(ctx, true);
}

/* A page fault; the cookie is 1 for a major one. */
static __always_inline int fault(struct bpf_perf_event_data *ctx, bool stack)
{
	struct other *o = other(TRACE_FAULT);

	if (!o)
		return 0;
	o->rec.arg[0] = ctx->addr;
#if defined(__TARGET_ARCH_x86)
	o->rec.arg[1] = ctx->regs.rip;
#else
	o->rec.arg[1] = ctx->regs.pc;
#endif
	o->rec.arg[2] = bpf_get_attach_cookie(ctx);
	send_other(o);
	if (stack)
		send_stack(o->rec.end);
	return 0;
}

SEC("perf_event")
int faulted(struct bpf_perf_event_data *ctx)
{
	return fault(ctx, false);
}

SEC("perf_event")
int faulted_stack(struct bpf_perf_event_data *ctx)
{
	return fault(ctx, true);
}
