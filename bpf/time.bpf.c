// SPDX-License-Identifier: MIT
/*
 * How long calls of one kernel function take, by programs at its entry and its
 * exit: a histogram, and the slowest calls with their arguments. Nothing is sent:
 * each CPU keeps its own, and user space reads them at the end.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "live/probe/functime_abi.h"

const volatile bool only_some = false; /* those in who: threads, or processes too */
const volatile bool by_process = false;
const volatile __u32 own = 0; /* process that times, and is not timed */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} who SEC(".maps");

/* Calls that have begun, by thread. */
struct begun {
	__u32 n;
	__u64 at[FUNCTIME_NESTED];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, FUNCTIME_THREADS);
	__type(key, __u32);
	__type(value, struct begun);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct functime_cpu);
} sums SEC(".maps");

static const struct begun none = {};
/* The exit is attached first, for a while alone: what it sees then is no call that was missed. */
static volatile bool entries_seen;

/* The idle threads all have number 0: they are told apart by CPU. */
static __always_inline __u32 thread(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return tid ? tid : 0x80000000u | bpf_get_smp_processor_id();
}

static __always_inline bool is_wanted(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)id, pid = id >> 32;

	if (pid == own)
		return false;
	return !only_some || bpf_map_lookup_elem(&who, &tid) ||
	       (by_process && bpf_map_lookup_elem(&who, &pid));
}

SEC("fentry")
int enter(void *ctx)
{
	__u32 key = thread(), n;
	struct begun *b;
	__u64 now;

	if (!is_wanted())
		return 0;
	if (!entries_seen)
		entries_seen = true;
	b = bpf_map_lookup_elem(&threads, &key);
	if (!b) {
		bpf_map_update_elem(&threads, &key, &none, BPF_NOEXIST);
		b = bpf_map_lookup_elem(&threads, &key);
		if (!b)
			return 0;
	}
	now = bpf_ktime_get_ns();
	n = b->n;
	b->n = n + 1;
	if (n < FUNCTIME_NESTED)
		b->at[n] = now;
	return 0;
}

static __always_inline __u32 log2_bucket(__u64 v)
{
	__u32 b = 0;

#define STEP(n)                 \
	if (v >= 1ull << (n)) { \
		v >>= (n);      \
		b += (n);       \
	}
	if (!v)
		return 0;
	STEP(32)
	STEP(16)
	STEP(8)
	STEP(4)
	STEP(2)
	STEP(1)
#undef STEP
	return b + 1;
}

static __always_inline void find_least(struct functime_cpu *c)
{
	__u64 took = ~0ull;

	for (__u32 i = 0; i < FUNCTIME_SLOW; i++)
		if (c->slow[i].took < took) {
			took = c->slow[i].took;
			c->least = i;
		}
}

static __always_inline void keep_slow(void *ctx, struct functime_cpu *c, __u64 time, __u64 took)
{
	__u64 n_args = bpf_get_func_arg_cnt(ctx);
	bool full = c->n_slow >= FUNCTIME_SLOW;
	__u32 at = full ? c->least : c->n_slow;
	struct functime_slow *s;

	if (at >= FUNCTIME_SLOW)
		return;
	s = &c->slow[at];
	if (full && took <= s->took)
		return;
	s->time = time;
	s->took = took;
	s->tid = (__u32)bpf_get_current_pid_tgid();
	s->n_args = n_args < FUNCTIME_ARGS ? n_args : FUNCTIME_ARGS;
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	for (__u32 i = 0; i < FUNCTIME_ARGS && i < n_args; i++)
		bpf_get_func_arg(ctx, i, &s->args[i]);
	if (!full)
		c->n_slow++;
	if (c->n_slow >= FUNCTIME_SLOW)
		find_least(c);
}

SEC("fexit")
int leave(void *ctx)
{
	__u64 now = bpf_ktime_get_ns(), took;
	__u32 key = thread(), zero = 0, bucket, n;
	struct functime_cpu *c;
	struct begun *b;

	if (!is_wanted())
		return 0;
	c = bpf_map_lookup_elem(&sums, &zero);
	if (!c)
		return 0;
	b = bpf_map_lookup_elem(&threads, &key);
	n = b ? b->n : 0;
	if (!n) {
		c->lone += entries_seen;
		return 0;
	}
	b->n = --n;
	if (n >= FUNCTIME_NESTED) {
		c->lone++;
		return 0;
	}
	took = now - b->at[n];
	bucket = log2_bucket(took);
	if (bucket < FUNCTIME_BUCKETS)
		c->bucket[bucket]++;
	c->n++;
	c->sum += took;
	if (took > c->max)
		c->max = took;
	keep_slow(ctx, c, now - took, took);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
