/* SPDX-License-Identifier: MIT */
/*
 * Who ran and what was mapped, versioned by time.
 *
 * The side-band records (mmap, comm, fork, exit) are applied once, in time
 * order; after that any sample can be looked up in any order and by any
 * thread, because every answer is a function of (task, time). A live view
 * applies and asks in turn, with the time of the newest event.
 *
 * An address space is a number. Two samples with the same space and address are
 * the same code: a mapping that replaces another one starts a new space, exec
 * too; fork shares the parent's until the child maps something. Space 0 is the
 * kernel's, until a module or BPF program takes the place of another one: from
 * then on the kernel has another space as well (tasks_kernel_at).
 *
 * What was mapped before an exec answers for addresses the new image has
 * nothing at: the call chain of a sample inside execve still shows its caller.
 */
#pragma once

#include "base/map.h"

#define TASK_SPACE_KERNEL 0u
#define TASK_SPACE_NONE UINT32_MAX /* of a process nothing is known of; nothing is found in it */
#define TASK_SPACE_LABEL (UINT32_MAX - 1) /* no addresses, but numbers of a trace's wakers */
#define TASK_DSO_NONE UINT32_MAX

/* A file (or "[vdso]", "[kernel.kallsyms]", "//anon") that code came from. */
struct task_dso {
	uint32_t name; /* in tasks->strings: the path as recorded, on one line */
	uint32_t file; /* the same as it is, by which it can be opened */
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: not known */
	bool kernel;	       /* kernel image or module */
	bool ksymbol;	       /* one kernel function made at run time (BPF); named as the dso */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
};

struct task_map {
	uint64_t start, end;  /* [start, end) */
	uint64_t pgoff;	      /* file offset of start, in bytes */
	uint32_t dso;	      /* index into tasks->dsos */
	uint32_t prot, flags; /* 0 when not recorded */
	int32_t pid;	      /* the process that mapped it, -1 for the kernel */
};

struct tasks;
struct tasks *tasks_new(void);
void tasks_free(struct tasks *t);

/* Applying: calls must come in time order (equal times as they stand in the source). */
void tasks_mmap(struct tasks *t, uint64_t time, int32_t pid, int32_t tid,
		const struct task_map *map);
void tasks_comm(struct tasks *t, uint64_t time, int32_t pid, int32_t tid, const char *comm,
		bool exec);
/* maps: the child has the parent's mappings; not so for tasks that recorders find in /proc. */
void tasks_fork(struct tasks *t, uint64_t time, int32_t ppid, int32_t ptid, int32_t pid,
		int32_t tid, bool maps);
void tasks_exit(struct tasks *t, uint64_t time, int32_t pid, int32_t tid);
/* There is only one space, TASK_SPACE_KERNEL, for all processes: for sources without addresses. */
void tasks_share_space(struct tasks *t);
/* The dso of that name and build-id (NULL, 0 when not known), made when missing. */
uint32_t tasks_dso(struct tasks *t, const char *path, const uint8_t *build_id, size_t size,
		   bool kernel);
/* The same with all that is known; like->name is not read. */
uint32_t tasks_dso_like(struct tasks *t, const char *path, const struct task_dso *like);
/* The kernel no longer has anything in [start, end). */
void tasks_kernel_unmap(struct tasks *t, uint64_t time, uint64_t start, uint64_t end);
/* A build-id that is learnt later (BUILD_ID feature, the file itself), for every dso of that path
 * without one. */
void tasks_set_build_id(struct tasks *t, const char *path, const uint8_t *build_id, size_t size,
			bool kernel);

/* Is it the name of memory that no file stands behind? What runs in it was made at run time. */
bool task_is_anonymous(const char *path);
/* ".../jit-1234.dump": what a runtime writes of the code it compiles. */
bool task_is_jitdump(const char *path);

/* Asking. Names are ids in *tasks_strings(). */
const struct strtab *tasks_strings(const struct tasks *t);
uint32_t tasks_comm_at(const struct tasks *t, int32_t tid,
		       uint64_t time); /* STRTAB_NONE when not known */
/*
 * The same for all tasks: where no name is known, the thread's number and TASK_NAMELESS. As text
 * "swapper" is the idle task, ":12" is thread 12, whose name is not known. May be in buf.
 */
#define TASK_NAMELESS 0x80000000u
#define TASK_NAME 16
uint32_t tasks_who(uint32_t comm, int32_t tid); /* comm may be STRTAB_NONE */
const char *tasks_who_name(const struct tasks *t, uint32_t who, char buf[TASK_NAME]);
const char *tasks_name_at(const struct tasks *t, int32_t tid, uint64_t time, char buf[TASK_NAME]);
/* With another word for a thread whose name is not known; it may be NULL. */
const char *tasks_name_or(const struct tasks *t, int32_t tid, uint64_t time, const char *unknown);
/* What a thread is called next, unless that is another thread of the same number. */
uint32_t tasks_later_comm(const struct tasks *t, int32_t tid, uint64_t time);
uint32_t tasks_space_at(const struct tasks *t, int32_t pid, uint64_t time);
/* All of it for a sample; the answer is the same for every time in from <= time < until... */
struct task_view {
	uint32_t space, kernel, comm;
	uint64_t from, until;
};
struct task_view tasks_view_at(const struct tasks *t, int32_t pid, int32_t tid, uint64_t time);
/* ... as long as this does not change. */
uint32_t tasks_version(const struct tasks *t);
/* The kernel's space then: TASK_SPACE_KERNEL unless code was replaced. */
uint32_t tasks_kernel_at(const struct tasks *t, uint64_t time);
/* Where the kernel itself began when the recording started; 0 when not known. */
uint64_t tasks_kernel_start(const struct tasks *t);
/* The process of a thread then, for sources that record only the tid; -1 when not known. */
int32_t tasks_pid_at(const struct tasks *t, int32_t tid, uint64_t time);
/* NULL when nothing is mapped there. Kernel addresses are in the kernel's spaces only. */
const struct task_map *tasks_find(const struct tasks *t, uint32_t space, uint64_t addr);
/* The same; the answer holds for every address in *from <= addr < *until. */
const struct task_map *tasks_find_range(const struct tasks *t, uint32_t space, uint64_t addr,
					uint64_t *from, uint64_t *until);

/* Everything mapped in a space, by address. */
void tasks_each_map(const struct tasks *t, uint32_t space,
		    void (*fn)(void *ctx, const struct task_map *map), void *ctx);

size_t tasks_n_dsos(const struct tasks *t);
const struct task_dso *tasks_get_dso(const struct tasks *t, uint32_t dso);
const char *tasks_dso_path(const struct tasks *t, uint32_t dso); /* to be shown */
const char *tasks_dso_file(const struct tasks *t, uint32_t dso); /* to be opened */

/* Every thread seen, for summaries: fn gets tid, pid, its last comm id, first and last time. */
struct task_seen {
	int32_t pid, tid, ppid, ptid; /* process, thread, those that forked it or -1 */
	uint32_t comm;
	uint64_t start, end; /* 0 when not seen to start, UINT64_MAX when not seen to end */
};
void tasks_each(const struct tasks *t, void (*fn)(void *ctx, const struct task_seen *s), void *ctx);

/*
 * --- task_renew.c: for live views, which run for days ---
 *
 * What was is of no use to them. Tasks are made anew from those that run, or did so until just now,
 * and from what is still asked for by number; numbers of the new ones are others. The old ones
 * stay as they are, for answers that were given before, until they are freed.
 */
struct tasks_wanted {
	bool *space, *name; /* by number */
	size_t n_spaces, n_names;
};
struct tasks_moved { /* by old number: the new one */
	uint32_t *space, *name;
	size_t n_spaces;
};
/* Bytes, about. */
size_t tasks_size(const struct tasks *t);
void tasks_want_none(const struct tasks *t, struct tasks_wanted *ret);
/* A sample's; STRTAB_NONE: it has no name. */
void tasks_want(struct tasks_wanted *w, uint32_t space, uint32_t kernel, uint32_t name);
/* since: what ended before is not asked for any more, but by number. */
struct tasks *tasks_renew(const struct tasks *t, const struct tasks_wanted *w, uint64_t since,
			  struct tasks_moved *ret);
/* TASK_SPACE_KERNEL as a sample's user space says that it has none. */
uint32_t tasks_moved_space(const struct tasks_moved *m, uint32_t space);
uint32_t tasks_moved_kernel(const struct tasks_moved *m, uint32_t space);
/*
 * Those of several recordings of one machine as one. Tasks of the same number are the same.
 * shift is added to times; what was known from the start counts from begin on.
 */
struct tasks_of {
	const struct tasks *tasks;
	int64_t shift;
	uint64_t begin;
};
struct tasks *tasks_merge(const struct tasks_of *from, size_t n);
void tasks_wanted_free(struct tasks_wanted *w);
void tasks_moved_free(struct tasks_moved *m);
