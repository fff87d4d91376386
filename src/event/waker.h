/* SPDX-License-Identifier: MIT */
/* Who ended a wait: the raw data of "offcpu-time" recorded with --wakers (docs/perf-data.md).
 * Readers that do not know it, perf among them, see an ordinary sample. */
#pragma once

#include "event/event.h"

#define WAKER_EVENT "offcpu-time"
/* The kernel's numbers of it: a bpf-output of its software events. */
#define WAKER_PMU 1
#define WAKER_CODE 10
#define WAKER_MAGIC 0x524b4157u /* "WAKR" */
#define WAKER_INTERRUPT 1u	/* no task but an interrupt; pid and tid say nothing */

/* The raw data's head; addresses follow, kernel's first, each part innermost first. */
struct waker_head {
	uint32_t magic, flags;
	int32_t pid, tid;
	uint32_t n_kernel, n_user;
	uint32_t pad; /* raw data begins 4 bytes behind a multiple of 8: addresses are aligned so */
	char comm[16]; /* with a NUL */
};

struct waker {
	const struct waker_head *head;
	const uint64_t *kernel, *user;
};

/* Is it an event of waiting, by its name, with modifiers or without? */
bool waker_is_event(const char *name);
/* False when the sample has none, or it makes no sense. Pointers lead into ev->raw. */
bool waker_of(const struct event *ev, struct waker *ret);
