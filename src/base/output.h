/* SPDX-License-Identifier: MIT */
/*
 * Files that a command writes for its user.
 *
 * Whoever may write in a folder can put another thing under a name there at any moment. So a
 * path is walked once: the folder is opened, and in it a file is made, filled, given to its
 * owner, named and, when all was for nothing, removed, each by descriptor. Nothing is changed
 * or taken away that was not made here.
 *
 * - A file is new and takes the place of what has its name; only one that shall grow before
 *   everybody's eyes is written where it is, if it has no second name elsewhere.
 * - Devices and pipes are written to, never replaced or removed.
 * - Links are followed; but root follows none that another user made (one of the user behind
 *   sudo only to what is that user's, too), and writes to no pipe of another user.
 * - Who became root by sudo gets what is made: it belongs to SUDO_UID. But not where that user
 *   may have led us to a folder of somebody else by a link.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct output {
	int fd;	     /* written to; -1: closed, or another closes it */
	int folder;  /* -1: this was there before, and stays as it is */
	char *base;  /* its name in the folder */
	char *temp;  /* and the one it has meanwhile; NULL: none */
	bool hidden; /* nobody sees it under its name before output_publish() */
};
#define OUTPUT_NONE ((struct output){ .fd = -1, .folder = -1 })

/*
 * A file that appears when it is published. access: O_WRONLY or O_RDWR. On failure *o is
 * OUTPUT_NONE.
 */
int output_open(struct output *o, const char *path, int access, struct err *e);
/* Give it its name, in place of what has it now. Once; it may be written to afterwards. -errno. */
int output_publish(struct output *o);
/* Close what is open. What was not published is gone. OUTPUT_NONE is fine. */
int output_close(struct output *o);
/* The same, and what was published under this name goes, too. */
void output_drop(struct output *o);

/*
 * A file that others may read while it grows: a descriptor for writing or -errno. flags: O_EXCL
 * for one that must not be there, O_APPEND to go on with it.
 */
int output_growing(const char *path, int flags, mode_t mode, struct err *e);

/* Who became root by sudo; false: nobody did. */
bool output_user(uid_t *uid, gid_t *gid);
