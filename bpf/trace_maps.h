/* SPDX-License-Identifier: MIT */
/*
 * The maps of the programs of `kymo trace`, and what they need of the kernel's types.
 */
#pragma once

/* The stack walker, for --call-graph: its maps are the walker's own then. */
#include "pid_types.h"
#include "walk_send.h"

#include "event/trace_abi.h"

const volatile struct trace_config options = {};
__u32 running; /* user space lets them run */
__u64 cpus[TRACE_CPUS / 64];
struct trace_lost losses;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct trace_task);
} tasks SEC(".maps");

/* A record in the making: what was read at entry waits here for the exit. */
struct call {
	struct trace_record rec;
	__u8 data[TRACE_DATA];
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* Who is traced when the trace begins, by number of process or thread; value: enum trace_on. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} threads SEC(".maps");

/* Processes that are never traced. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} left_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_ABIS *TRACE_CALLS);
	__type(key, __u32);
	__type(value, struct trace_plan);
} plans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 262144);
	__type(key, struct trace_sum_key);
	__type(value, struct trace_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct trace_error_key);
	__type(value, __u64);
} errors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct trace_comm);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} records SEC(".maps");

/* --- the kernel's types, as far as they are read -------------------------------------------------
 */

struct qstr___k {
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct inode___k {
	unsigned short i_mode;
	unsigned long i_ino;
	unsigned int i_rdev;
} __attribute__((preserve_access_index));
struct dentry___k {
	struct dentry___k *d_parent;
	struct qstr___k d_name;
} __attribute__((preserve_access_index));
struct vfsmount___k {
	struct dentry___k *mnt_root;
} __attribute__((preserve_access_index));
struct mount___k {
	struct mount___k *mnt_parent;
	struct dentry___k *mnt_mountpoint;
	struct vfsmount___k mnt;
} __attribute__((preserve_access_index));
struct path___k {
	struct vfsmount___k *mnt;
	struct dentry___k *dentry;
} __attribute__((preserve_access_index));
struct file___k {
	struct path___k f_path;
	struct inode___k *f_inode;
} __attribute__((preserve_access_index));
struct fdtable___k {
	unsigned int max_fds;
	struct file___k **fd;
} __attribute__((preserve_access_index));
struct files_struct___k {
	struct fdtable___k *fdt;
} __attribute__((preserve_access_index));

struct mm_struct___k {
	unsigned long arg_start, arg_end;
} __attribute__((preserve_access_index));
struct thread_info___k {
	unsigned long flags;
	__u32 status;
} __attribute__((preserve_access_index));
struct task_struct___t {
	struct thread_info___k thread_info;
	int pid, tgid;
	unsigned int __state;
	struct pid___k *thread_pid;
	struct task_struct___t *group_leader;
	struct files_struct___k *files;
	struct mm_struct___k *mm;
	char comm[16];
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
struct pt_regs___t {
	unsigned long bp, bx, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
} __attribute__((preserve_access_index));
#else
struct pt_regs___t {
	__u64 regs[31], orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));
#endif
