/* SPDX-License-Identifier: MIT */
/*
 * What runtimes write of the code they compile, perf maps and jitdump files, is in a /tmp or a
 * folder that may go with the process: a container's, a service's own. While recording the
 * folder, or the dump, is held open; at the end, when all is written, the files of processes
 * whose compiled code was hit are copied into the cache. They have no build-id of their own, so
 * one is made of what is in them, for the recording's list to say which copy is meant.
 */
#ifndef KYMO_LIVE_KEEP_JIT_H
#define KYMO_LIVE_KEEP_JIT_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/task.h"
#include "sym/perfmap.h"

#define KEEP_JIT_MAX 512		     /* processes, and jitdump files */
#define KEEP_JIT_BYTES ((uint64_t)256 << 20) /* of one copy */

struct keep_process {
	pid_t pid;
	struct perfmap_place place; /* place.tmp is one of dirs */
};
struct keep_dump {
	pid_t pid;
	int fd;
	char *path;
};
struct keep_jit {
	pthread_mutex_t lock; /* for the next three */
	VEC(struct keep_process) processes;
	VEC(struct keep_dump) dumps;
	VEC(int) dirs;
	struct map seen; /* pids */
};

void keep_jit_init(struct keep_jit *j);
void keep_jit_free(struct keep_jit *j);

/* A process can run code in memory without a file. By one thread at a time, as the next. */
void keep_jit_process(struct keep_jit *j, pid_t pid);
/* A process mapped its jitdump file. */
void keep_jit_dump(struct keep_jit *j, pid_t pid, const char *path, uint64_t start, uint64_t end);

/*
 * Copy into the cache what belongs to processes of which hit (by dso) tells. The dsos of what was
 * copied get build-ids, and those of jitdump files count as hit. *room is what may be copied, in
 * bytes. How many files.
 */
size_t keep_jit_save(struct keep_jit *j, int cache, struct tasks *t, uint8_t *hit, uint64_t *room);

#endif
