/* SPDX-License-Identifier: MIT */
/* Between task.c, task_renew.c and task_tree.c. Not for others. */
#pragma once

#include "base/mem.h"
#include "base/vec.h"
#include "event/task.h"

/*
 * --- task_tree.c ---
 *
 * The mappings of an address space, as a treap whose nodes may be shared by many
 * spaces: a node is changed in place only by the space that made it (equal tokens)
 * and copied by any other. So a fork costs nothing, a child's first mapping costs a
 * path of nodes, and 60,000 forks of a process with 500 mappings stay small.
 */
struct task_node {
	struct task_map map;
	struct task_node *left, *right;
	uint32_t rank;	/* random; a node ranks above its children */
	uint32_t token; /* of the space that may change it */
};

/* Where nodes are made. */
struct task_nodes {
	struct arena *arena;
	uint64_t random;
};

/* Put map to its place, and cut away what it covers: the new root. */
struct task_node *task_tree_replace(struct task_nodes *t, struct task_node *root,
				    const struct task_map *map, uint32_t token);
/* Does something else stand in map's range? */
bool task_tree_conflict(const struct task_node *n, const struct task_map *map);
/* In the order of addresses. */
void task_tree_each(const struct task_node *n, void (*fn)(void *ctx, const struct task_map *map),
		    void *ctx);

/*
 * The mapping at addr, or NULL; inline, since every address of every stack asks. The answer
 * holds from *from to *until, which are narrowed to it.
 */
static inline const struct task_map *task_tree_find(const struct task_node *n, uint64_t addr,
						    uint64_t *from, uint64_t *until)
{
	while (n && (addr < n->map.start || addr >= n->map.end)) {
		if (addr < n->map.start && n->map.start < *until)
			*until = n->map.start;
		if (addr >= n->map.end && n->map.end > *from)
			*from = n->map.end;
		n = addr < n->map.start ? n->left : n->right;
	}
	if (!n)
		return NULL;
	if (n->map.start > *from)
		*from = n->map.start;
	if (n->map.end < *until)
		*until = n->map.end;
	return &n->map;
}

/* --- task.c --- */

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
