/* SPDX-License-Identifier: MIT */
/* Where the kernel's own filesystems are mounted, as this process sees them. */
#ifndef KYMO_KERN_MOUNTS_H
#define KYMO_KERN_MOUNTS_H

#include <stddef.h>

/* The first mount of this type ("cgroup2") and option (NULL: any); -ENOENT: there is none. */
int mounts_find(const char *type, const char *option, char *path, size_t size);

/* A filesystem mounted nowhere: a directory that goes with close(). CAP_SYS_ADMIN, Linux 5.2;
 * -errno. */
int mounts_private(const char *type);

#endif
