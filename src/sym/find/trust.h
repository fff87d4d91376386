/* SPDX-License-Identifier: MIT */
/*
 * Who can have written a file: what goes by its build-id is believed only where root or the
 * user who runs kymo has put it.
 */
#ifndef KYMO_SYM_FIND_TRUST_H
#define KYMO_SYM_FIND_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* It belongs to root or to us, and nobody else can write to it. */
bool trust_fd(int fd);
/* The same of each folder that leads to a path, as far as they are there. */
bool trust_path(const char *path);
/* A file that another one names: of the same owner, root's or ours. */
bool trust_beside(int fd, uid_t owner);

#endif
