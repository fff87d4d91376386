/* SPDX-License-Identifier: MIT */
/*
 * /tmp/perf-PID.map: names of JIT-compiled code, as a runtime writes them.
 *
 * "START SIZE NAME" a line, numbers in hex, names with spaces. There are no
 * times in it: where ranges overlap, the later line is the newer code and wins.
 * Anybody can write to /tmp, so a file is read only when it is a plain one that
 * belongs to the user of the process or to root. Nonsense is skipped and counted.
 */
#pragma once

#include "base/budget.h"
#include "sym/elf/segments.h"

struct perfmap_sym {
	uint64_t start, end;
	const char *name;
};

struct perfmap {
	struct perfmap_sym *sym; /* in the order of the file */
	size_t n;
	struct segments map; /* 1 + which of them is at an address */
	char *text;	     /* owned; names point into it */
	struct budget budget;
	uint32_t bad_lines;
};

/* Takes over text, as file_read() gives it. A text without any symbol is a good, empty map. */
void perfmap_parse(struct perfmap *m, char *text, size_t len);

/*
 * Open a map that may be trusted: -EPERM when it belongs to somebody other than
 * uid or root, is a link or not a plain file. Where nobody knows whose it should
 * be, it is ours.
 */
#define PERFMAP_OWNER_UNKNOWN ((uid_t)-1)
int perfmap_open(const char *path, uid_t uid, struct err *e);
/* One that is open: fd, or the failure, and it is closed. */
int perfmap_trust(int fd, const char *path, uid_t uid, struct err *e);

/*
 * Where a process writes its map: its own /tmp, and the number it has in its own
 * namespace. What is held open so outlives the process and its container.
 */
struct perfmap_place {
	int tmp; /* the caller closes it */
	pid_t inner;
	uid_t uid;
	int64_t began; /* seconds since 1970: older maps are other processes'; 0: not known */
};
int perfmap_place(pid_t pid, struct perfmap_place *ret);
/* -ESTALE: what is there is older than the process. */
int perfmap_open_at(const struct perfmap_place *p, struct err *e);

/*
 * The map of a process: in its own /tmp, under the number it has in its own
 * namespace, then in ours; or path when not NULL (a saved copy). owner is the
 * user the process had, for when it has ended.
 */
int perfmap_load(struct perfmap *m, const char *path, pid_t pid, uid_t owner, struct err *e);
/*
 * What the jitdump that a living process has mapped says of the code that is there now, as a map;
 * -ENOENT when it has none.
 */
int perfmap_from_jitdump(struct perfmap *m, pid_t pid, struct err *e);
/* From a file that is trusted; fd is taken over. */
int perfmap_read(struct perfmap *m, int fd, const char *path, struct err *e);
void perfmap_free(struct perfmap *m);

const struct perfmap_sym *perfmap_find(const struct perfmap *m, uint64_t addr);
