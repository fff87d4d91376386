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
 * A child keeps these open until the returned descriptor is closed; close them, then
 * that. -1 when there is no child, and closing will simply take its time.
 */
int close_events(const int *fd, size_t n);

#endif
