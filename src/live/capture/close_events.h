/* SPDX-License-Identifier: MIT */
/*
 * Closing events: taking down a tracepoint waits for the kernel, some 40 ms for each. With many of
 * them, switched off before, a child does the waiting.
 */
#ifndef KYMO_LIVE_CAPTURE_CLOSE_EVENTS_H
#define KYMO_LIVE_CAPTURE_CLOSE_EVENTS_H

#include <stddef.h>

/* Closes them; -1 is passed over. Where there can be no child, it takes its time. */
void close_events(const int *fd, size_t n);

#endif
