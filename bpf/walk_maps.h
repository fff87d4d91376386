/* SPDX-License-Identifier: MIT */
/*
 * The walker's maps and what it keeps of a sample in the making. For the format
 * of the maps see src/live/walk/walker_abi.h.
 */
#pragma once

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "live/walk/walker_abi.h"

/* Registers by DWARF number. */
#if defined(__TARGET_ARCH_x86)
#	define REGS 17
#	define REG_FP 6
#	define REG_SP 7
#	define REG_PC 16
#	define RA_MASK ~0ull
#else
#	define REGS 33
#	define REG_FP 29
#	define REG_LR 30
#	define REG_SP 31
#	define REG_PC 32
#	define RA_MASK config.ra_mask
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

#define STACK_WINDOW 4096 /* bytes of stack that are read at once */

#define RECENTS_SHIFT 12

/*
 * A CPU's sample in the making; the program does not interrupt itself. What is used of every sample
 * lies close together: most of the time goes by waiting for memory.
 *
 * Where the time goes (a compiler at 3,999 Hz, 23 frames, of which 19 are in `recent`, 2.1 are
 * looked up): of 4.1 us 0.2 the head and the task's numbers, 0.2 the list and fetch_known, 0.8
 * reading the stack (2 to 4 KiB, which are cold), 0.55 the first look-up with its cold code, 0.6
 * the others, 0.6 the known frames, 0.35 sending. A kernel stack, where there is one, is 9 us more
 * for six frames, all in the kernel's own unwinder.
 *
 * Measured by two recorders of one compiler at once, whose timers drift apart, by the kernel's own
 * statistics of both programs: that tells 1 %, two runs one after the other 5. What gained nothing:
 * several frames or steps of a search a callback, branches told likely, the table's entry kept
 * beside the mapping, twice as many `recent`, two that share a place, or four (3 % slower), pieces
 * of stack of 1 KiB (2 % slower), the frames of a thread's last walk kept in order and compared
 * with its stack (5 % slower, and four times the code). With 16 bytes instead of 8 a `recent` it
 * was 4 % slower.
 */
struct state {
	/* The frame the walk is at. */
	__u64 ip;
	__u64 sp, fp;
	/* The piece of the stack that has been read. */
	__u64 base, size;
	__u64 bottom;	  /* the outermost frame of the last stack: so far it is to be read */
	__u32 n;	  /* frames so far */
	__u32 generation; /* of the process's list; 0: none, or all is to be looked up */
	__u32 is_return;  /* ip is a return address */
	__u32 by_fp;	  /* ip was found by frame pointer */
	__u32 sp_known;
	__u32 extra_known;
	__u64 extra; /* x86: rbx, aarch64: the link register */
	/* The mapping that was looked up last, and whose list's it is. */
	__u64 map_start, map_end, map_pgoff;
	__u32 map_table;
	__u32 map_generation;
	__u32 has_map;
	/* The process's list, and whose that is; 0: of one that has none of its own. */
	__u32 list_tgid, list_generation;
	__u32 first, n_maps;
	__u32 found;	 /* what the tables say of ip: the rule's number */
	__u64 cfa, next; /* of step_rule: the caller's sp and ip */
	struct ehframe_rule rule;
	__u64 tgid;
	__u64 last_copy; /* when its credit is used up: in the past when some is left */
	__u64 last_call; /* when it asked for what is missing */
	__u32 sent;
	volatile __u32 slot;
	volatile __u32 busy; /* the thread whose walk it is (walk_fn.h) */
	__u32 anew;	     /* what is remembered is not to be used (walk_check.h) */
	__u64 r[REGS];	     /* of the innermost frame */
	__u64 window[STACK_WINDOW / 8 + 8];
	struct walk_sample rec;
	__u64 chain[WALK_DEPTH + WALK_KERNEL];
	__u8 copy[sizeof(struct walk_regs) + WALK_COPY];
	/* What the tables said of addresses (walk_step.h): most frames have been met before. */
	__u64 recent[1 << RECENTS_SHIFT];
} __attribute__((aligned(4096)));

/* By CPU, and no per-CPU map: those are limited to 32 KiB a value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");
