/* SPDX-License-Identifier: MIT */
/*
 * The walker's maps and what it keeps of a sample in the making. For the format
 * of the maps see src/live/walker_abi.h.
 */
#ifndef KYMO_BPF_WALK_MAPS_H
#define KYMO_BPF_WALK_MAPS_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "live/walker_abi.h"

/* Registers by DWARF number. */
#if defined(__TARGET_ARCH_x86)
#	define REGS 17
#	define REG_FP 6
#	define REG_SP 7
#	define REG_PC 16
#else
#	define REGS 33
#	define REG_FP 29
#	define REG_LR 30
#	define REG_SP 31
#	define REG_PC 32
#endif

const volatile struct walk_config config = {};
__u64 lost; /* samples for which the ring had no room */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct walk_proc);
} procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 131072);
	__type(key, __u32);
	__type(value, struct walk_map);
} maps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_TABLES);
	__type(key, __u32);
	__type(value, struct walk_table);
} tables SEC(".maps");

/* All slabs have the same size: only so are lookups in them inlined. */
struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WALK_SLAB_WORDS / 16);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct walk_block));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WALK_SLABS);
	__uint(key_size, 4);
	__array(values, struct slab);
} slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct walk_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

#define MEMO_FRAMES 128
#define MEMO_THREADS 8
#define STACK_WINDOW 1024 /* bytes of stack that are read at once */

struct memo_frame {
	__u64 where; /* sp << 16 | WALK_QUICK of the rule that led here */
	__u64 ip;
};

/* A thread's last walk (walk_memo.h). */
struct walk_memo {
	__u64 whose; /* thread << 32 | its list's generation; 0: nobody's */
	__u32 n;
	__u32 end; /* the outermost frame is the bottom */
	struct memo_frame frame[MEMO_FRAMES];
};

/* What the tables said of an address. */
#define RECENTS_SHIFT 10
struct walk_recent {
	__u64 key;
	__u32 generation;
	__u32 found; /* rule | enum unwind_end << 16 */
};

/*
 * A CPU's sample in the making; the program does not interrupt itself. What is used of every sample
 * lies close together: most of the time goes by waiting for memory. The same compiler sampled three
 * times as often takes 0.7 of the time a sample, four times as rarely 1.7.
 *
 * Where the time goes (a compiler at 3,999 Hz on a busy machine, 23 frames, of which 13 are
 * recalled, 6 recent and 3.2 looked up; medians): 0.14 us the call of an empty program with the
 * kernel's statistics, 0.2 its head and the task's numbers, 0.2 the process's hash, 0.3 sending,
 * without the chain, 3.7 the walk. A kernel stack, where there is one, is 12 us more for six
 * frames, all in the kernel's own unwinder. Of the walk much is cold code, 6 KB each time: when
 * three frames have just been walked by another state, it takes 2.1 us.
 *
 * So what saves instructions or a few lines of memory is lost in the noise of 3 to 5 %: several
 * frames or steps of a search a callback (fewer returns, which the kernel guards); rules decoded
 * when they are looked up; the process's list remembered by CPU; states that are not in vmalloc's
 * small pages; hot fields in the first 128 bytes; a ring of 1 MiB; four times as many `recent`
 * (2.1 look-ups) or sixteen times (1.5, and 3 % less time), or half as many; `fresh` on the first
 * page.
 */
struct state {
	__u64 r[REGS]; /* of the innermost frame */
	__u64 ip;
	__u64 sp, fp;	 /* together: walk_step.h */
	__u64 cfa, next; /* of step_rule: the caller's sp and ip */
	struct ehframe_rule rule;
	__u32 found; /* what the tables say of ip: the rule's number */
	__u64 extra; /* x86: rbx, aarch64: the link register */
	__u64 map_start, map_end, map_pgoff;
	__u64 tgid;
	__u32 map_table;
	__u32 map_generation; /* whose list's it is */
	__u32 first, n_maps;
	__u32 is_return; /* ip is a return address */
	__u32 extra_known;
	__u32 by_fp; /* ip was found by frame pointer */
	__u32 sp_known;
	__u32 has_map;
	__u32 generation; /* of the process's list; 0: none, or all is to be looked up */
	__u64 last_copy;  /* when its credit is used up: in the past when some is left */
	volatile __u32 slot;
	volatile __u32 busy; /* the thread whose walk it is (walk_fn.h) */
	/* walk_memo.h */
	__u64 whose;
	__u64 top; /* stack pointer of the next frame that may be met, of `left` ones */
	__u32 left, kept, fresh_n;
	__u32 way;	/* WALK_QUICK of the rule that led to ip */
	__u32 recalled; /* ip is remembered */
	__u32 outermost;
	__u32 owner; /* who was busy when the walk began */
	__u32 anew;  /* nothing is to be remembered of this walk (walk_check.h) */
	/* The piece of the stack that has been read, and how far up it may be. */
	__u64 base, size, limit;
	__u64 window[STACK_WINDOW / 8 + 8];
	struct walk_sample rec;
	__u64 chain[WALK_DEPTH + WALK_KERNEL];
	__u8 copy[sizeof(struct walk_regs) + WALK_COPY];
	struct memo_frame fresh[MEMO_FRAMES];
	struct walk_memo memo[MEMO_THREADS];
	struct walk_recent recent[1 << RECENTS_SHIFT];
} __attribute__((aligned(4096)));

/* By CPU, and no per-CPU map: those are limited to 32 KiB a value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

#endif
