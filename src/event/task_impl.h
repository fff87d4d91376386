/* SPDX-License-Identifier: MIT */
/* Between task.c and task_renew.c. Not for others. */
#ifndef KYMO_EVENT_TASK_IMPL_H
#define KYMO_EVENT_TASK_IMPL_H

#include "base/vec.h"
#include "event/task_tree.h"

struct task_space {
	struct task_node *root;
	uint32_t token;
	uint32_t users;	 /* processes that run in it now */
	uint32_t before; /* the space this process had before exec; TASK_SPACE_NONE */
};

struct task_moment {
	uint64_t time;
	uint32_t value;
};
struct task_history {
	struct task_moment *at;
	uint32_t n, cap;
};

struct task {
	int32_t tid;
	bool in_space;		    /* counted as a user of its current space */
	struct task_history comm;   /* strings id */
	struct task_history pid;    /* the process it belongs to */
	struct task_history space;  /* of a process (tid == pid) */
	struct task_history parent; /* the pid that forked it */
	size_t life;		    /* in tasks->lives */
};

struct tasks {
	struct arena arena;
	struct strtab strings;
	struct map by_tid; /* tid to index + 1 */
	VEC(struct task) task;
	VEC(struct task_seen) lives;
	VEC(struct task_space) spaces;
	struct task_history kernel;
	VEC(struct task_dso) dsos;
	struct map by_dso; /* hash of what names a dso to index + 1 */
	uint32_t tokens;
	struct task_nodes nodes;
	bool shared;	  /* tasks_share_space() */
	uint32_t version; /* goes up with every change */
};

/* In time order; a late one counts from the newest time on. */
void task_history_set(struct arena *a, struct task_history *h, uint64_t time, uint32_t value);

#endif
