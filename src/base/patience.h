/* SPDX-License-Identifier: MIT */
/*
 * How long to wait for somebody who reads what is written, or writes what is read.
 *
 * A reader who takes nothing must not keep us from a signal to end: commands that block signals
 * wait with an eye on them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patience {
	int end_fd;	/* when this is readable, it is over; -1: nothing like that */
	uint64_t until; /* CLOCK_MONOTONIC ns; 0: no limit */
};

/* Waits until fd is ready for events (of poll()). False: it was over first. p NULL: for ever. */
bool patience_ready(const struct patience *p, int fd, short events);
/*
 * Writes all of it, guarded (base/guard.h): 0. -EINTR when it was over before the reader had taken
 * it; -errno. *done: bytes that were written. Files and terminals are not waited for.
 */
int patience_write(const struct patience *p, int fd, const void *data, size_t n, size_t *done);
