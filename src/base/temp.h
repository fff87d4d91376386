/* SPDX-License-Identifier: MIT */
/*
 * Folders for files that are needed only while the program runs.
 *
 * Each is locked by who made it, and the lock goes with the process however that ends. So whoever
 * makes one first removes those of the same user that nobody holds any more: what a kymo left
 * that was killed.
 */
#pragma once

#include "base/err.h"

struct temp {
	char *path; /* of the folder, which nobody else may enter; NULL: none */
	int fd;
};

/* In TMPDIR, or /tmp. */
int temp_make(struct temp *ret, struct err *e);
/* A file without a name, gone when it is closed: a descriptor, or -errno. */
int temp_file(struct err *e);
/* Gone, with the files in it. None is fine. */
void temp_remove(struct temp *t);
