/* SPDX-License-Identifier: MIT */
/* The kernel's numbers of a task, one for each pid namespace it is in. */
#pragma once

#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct ns_common___k {
	unsigned int inum;
} __attribute__((preserve_access_index));
struct pid_namespace___k {
	struct ns_common___k ns;
} __attribute__((preserve_access_index));
struct upid___k {
	int nr;
	struct pid_namespace___k *ns;
};
struct pid___k {
	unsigned int level;
	struct upid___k numbers[1];
} __attribute__((preserve_access_index));

/* The number in the namespace ino; 0: it is not in it. */
static __always_inline __u32 pid_number_in(struct pid___k *pid, __u64 ino)
{
	struct upid___k u, *at;
	__u32 level;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	at = (void *)pid + __builtin_preserve_field_info(pid->numbers, BPF_FIELD_BYTE_OFFSET);
	for (__u32 i = 0; i < 8; i++) {
		if (i > level || bpf_probe_read_kernel(&u, sizeof(u), at + i))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) == ino)
			return u.nr;
	}
	return 0;
}
