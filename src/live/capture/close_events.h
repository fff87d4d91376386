/* SPDX-License-Identifier: MIT */
/*
 * Closing events in the name of a child process.
 *
 * Taking down a tracepoint waits for the kernel, some 40 ms for each. With many of
 * them a child does the waiting, after they were switched off, so that kymo need not.
 */
#ifndef KYMO_LIVE_CAPTURE_CLOSE_EVENTS_H
#define KYMO_LIVE_CAPTURE_CLOSE_EVENTS_H

#include <stddef.h>

/*
 * Closes them; -1 among them is passed over. Where there can be no child, it simply takes its
 * time.
 */
void close_events(const int *fd, size_t n);

#endif
