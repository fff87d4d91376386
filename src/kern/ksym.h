/* SPDX-License-Identifier: MIT */
/* One kernel symbol's address, from /proc/kallsyms, for breakpoints. */
#ifndef KYMO_KERN_KSYM_H
#define KYMO_KERN_KSYM_H

#include <stdint.h>

#include "base/err.h"

/* path: "/proc/kallsyms". -ENOENT when there is no such symbol, -EPERM when addresses are hidden.
 */
int ksym_find(const char *path, const char *name, uint64_t *addr, struct err *e);

#endif
