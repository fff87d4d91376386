/* SPDX-License-Identifier: MIT */
/*
 * Files mapped for reading.
 *
 * Whoever shortens a file while it is mapped takes its pages away, and touching them is SIGBUS.
 * There is no going on then: what was checked is gone. As when memory runs out (base/mem.h) the
 * program ends, but with a sentence that names the file, and an exit code instead of a crash.
 */
#pragma once

#include <stddef.h>

/* From here on SIGBUS is this module's. Once, at the start. */
void filemap_start(void);

/*
 * Map size bytes of fd, which may be closed afterwards: as they are in the file, whatever probes
 * there are. NULL and errno on failure.
 */
void *filemap_open(int fd, size_t size, const char *name);
/* The same size again; NULL is fine. */
void filemap_close(const void *p, size_t size);
