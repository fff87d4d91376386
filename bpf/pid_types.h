/* SPDX-License-Identifier: MIT */
/* The kernel's numbers of a task, one for each pid namespace it is in. */
#ifndef KYMO_BPF_PID_TYPES_H
#define KYMO_BPF_PID_TYPES_H

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

#endif
