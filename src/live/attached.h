/* SPDX-License-Identifier: MIT */
/*
 * What programs in the kernel are attached to. Loading is kern/bpf.h's work, or libbpf's where the
 * program was written in C (bpf/).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* A zeroed struct holds nothing. */
struct attached {
	VEC(int) links;	 /* quick to close */
	VEC(int) events; /* perf events, slow to close */
};

/* All answer 0 or -errno. To a raw tracepoint, or with name NULL to what the program is tied to. */
int attached_raw(struct attached *a, int prog, const char *name);
/* To a perf event that belongs to somebody else, with bpf_get_attach_cookie()'s number. */
int attached_event(struct attached *a, int prog, int event, uint64_t cookie);
/* For kernels before 5.15: until the event is closed. */
int attached_set(int prog, int event);
/* Runs an iterator's program for each of what it goes through. */
int attached_iterate(int prog);

/* Events go on being open, but nothing comes any more. */
void attached_stop(struct attached *a);
/* Takes all down; what takes the kernel long is left to a child (close_events()). */
void attached_close(struct attached *a);

/*
 * Closing events: taking down a tracepoint waits for the kernel, some 40 ms for each. With many of
 * them, switched off before, a child does the waiting.
 */

/* Closes them; -1 is passed over. Where there can be no child, it takes its time. */
void close_events(const int *fd, size_t n);
