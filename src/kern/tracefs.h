/* SPDX-License-Identifier: MIT */
/*
 * tracefs: where it is, and the tracepoints in it.
 *
 * root is a tracefs directory: what tracefs_find() answered, or a captured tree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"

/*
 * The directory; mounted when it is not and we are root. NULL, with e, when there is none. That it
 * exists does not mean that this user may read it.
 */
const char *tracefs_find(struct err *e);

/* The id of one tracepoint: one file is read. -ENOENT when there is no such tracepoint. */
int tracefs_id(const char *root, const char *subsys, const char *event, uint64_t *id,
	       struct err *e);

/* Names, sorted; free with file_names_free(). */
int tracefs_subsystems(const char *root, struct file_names *ret, struct err *e);
int tracefs_events(const char *root, const char *subsys, struct file_names *ret, struct err *e);
/* Everything that can be counted, of one subsystem or (NULL) of all, as "subsys:event". */
int tracefs_all(const char *root, const char *subsys, struct file_names *ret, struct err *e);

/* The dynamic probes ("probe_libc:malloc"), in no order; none when the kernel has no probes. */
int tracefs_probes(const char *root, struct file_names *ret);

/* There is no event of that name: e says what is near to it, or how to add the probe. -ENOENT. */
int tracefs_no_event(const char *root, const char *name, struct err *e);

/* Fill e with why a file of tracefs could not be read. Returns -code. */
int tracefs_failed(const char *root, int code, struct err *e);

/* Where the kernel's own filesystems are mounted, as this process sees them. */

/* The first mount of this type ("cgroup2") and option (NULL: any); -ENOENT: there is none. */
int mounts_find(const char *type, const char *option, char *path, size_t size);

/* A filesystem mounted nowhere: a directory that goes with close(). CAP_SYS_ADMIN, Linux 5.2;
 * -errno. */
int mounts_private(const char *type);
