/* SPDX-License-Identifier: MIT */
/* How the CPU's cycle counter becomes nanoseconds, as the kernel tells perf. */
#ifndef KYMO_KERN_TSC_H
#define KYMO_KERN_TSC_H

#include <stdint.h>

#include "base/err.h"

/* ns = (ticks * mult >> shift) + zero; ns is the time of the clocks local and perf. */
struct tsc_scale {
	uint32_t mult, shift;
	uint64_t zero;
};
int tsc_scale(struct tsc_scale *ret, struct err *e);

#endif
