/* SPDX-License-Identifier: MIT */
/*
 * Keeping files that have no build-id. One is made of what is in them, and the recording's list
 * of build-ids says by it which copy is meant.
 *
 * What runtimes write of the code they compile, perf maps and jitdump files, is in a /tmp or a
 * folder that may go with the process: a container's, a service's own. While recording the
 * folder, or the dump, is held open; at the end, when all is written, the files of processes
 * whose compiled code was hit are copied into the cache.
 *
 * Programs (Go's and Rust's, for example, and what many a compiler makes) are held open as those
 * with a build-id are, and copied where their path leads to another file at the end, or to none.
 */
#ifndef KYMO_LIVE_ABOUT_KEEP_NOID_H
#define KYMO_LIVE_ABOUT_KEEP_NOID_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/task.h"
#include "sym/jit/perfmap.h"

#define KEEP_NOID_MAX 512		      /* processes, and other files */
#define KEEP_NOID_BYTES ((uint64_t)256 << 20) /* of one copy */

struct keep_process {
	pid_t pid;
	struct perfmap_place place; /* place.tmp is one of dirs */
};
struct keep_file {
	pid_t pid; /* of a jitdump, whose code was hit elsewhere; 0: a program */
	int fd;
	char *path;
};
struct keep_noid {
	pthread_mutex_t lock; /* for the next three */
	VEC(struct keep_process) processes;
	VEC(struct keep_file) files;
	VEC(int) dirs;
	struct map seen; /* pids */
};

void keep_noid_init(struct keep_noid *j);
void keep_noid_free(struct keep_noid *j);

/* fd, of a program of that path, is taken over. By one thread at a time, as the next. */
void keep_noid_program(struct keep_noid *j, const char *path, int fd);
/* A process can run code in memory without a file. */
void keep_noid_process(struct keep_noid *j, pid_t pid);
/* A process mapped its jitdump file. */
void keep_noid_dump(struct keep_noid *j, pid_t pid, const char *path, uint64_t start, uint64_t end);

/*
 * Copy into the cache what belongs to processes of which hit (by dso) tells. The dsos of what was
 * copied get build-ids, and those of jitdump files count as hit. *room is what may be copied, in
 * bytes. How many files.
 */
size_t keep_noid_save(struct keep_noid *j, int cache, struct tasks *t, uint8_t *hit,
		      uint64_t *room);

#endif
