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

/* struct ehframe_rule and 4 bytes of padding; BPF rounds up to 8 anyway. */
struct rule_slot {
	struct ehframe_rule rule;
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct rule_slot);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

/* A CPU's sample in the making; the program does not interrupt itself. */
struct state {
	__u64 r[REGS]; /* of the innermost frame */
	__u64 ip, sp, fp;
	__u64 extra; /* x86: rbx, aarch64: the link register */
	__u64 map_start, map_end, map_pgoff;
	__u64 tgid;
	__u32 map_table;
	__u32 first, n_maps;
	__u32 is_return; /* ip is a return address */
	__u32 extra_known;
	__u32 by_fp; /* ip was found by frame pointer */
	__u32 sp_known;
	__u32 has_map;
	__u64 last_copy; /* when its credit is used up: in the past when some is left */
	volatile __u32 slot;
	volatile __u32 busy; /* the thread whose walk it is (walk_fn.h) */
	struct walk_sample rec;
	__u64 chain[WALK_DEPTH + WALK_KERNEL];
	__u8 copy[sizeof(struct walk_regs) + WALK_COPY];
};

/* By CPU, and no per-CPU map: those are limited to 32 KiB a value. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

#endif
