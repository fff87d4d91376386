/* SPDX-License-Identifier: MIT */
/* Which of a kernel stack's frames belong to switching, waking and interrupts. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "live/capture/offcpu.h"

#define HEAD 8 /* the tracepoint's and BPF's own frames, and the scheduler's, are among these */

static bool is_interrupt(const char *name)
{
	static const char *const starts[] = { "asm_sysvec_",	  "sysvec_",	  "asm_common_int",
					      "common_interrupt", "__do_softirq", "handle_softirqs",
					      "do_softirq",	  "irq_exit",	  "el1h_64_irq",
					      "el1_interrupt",	  "el0t_64_irq",  "el0_interrupt",
					      "el0_irq",	  "asm_exc_nmi",  "exc_nmi" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (str_starts(name, starts[i]))
			return true;
	return false;
}

static bool offcpu_kernel_want(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "__schedule") == 0 || strcmp(name, "try_to_wake_up") == 0 ||
	       is_interrupt(name);
}

static void offcpu_kernel_add(void *ctx, const char *name, uint64_t start, uint64_t end)
{
	struct offcpu_kernel *k = ctx;
	struct offcpu_ranges *to = strcmp(name, "__schedule") == 0	 ? &k->schedule
				   : strcmp(name, "try_to_wake_up") == 0 ? &k->wake
									 : &k->interrupt;

	vec_push(&to->v, (struct offcpu_range){ start, end });
}

void offcpu_kernel_read(struct offcpu_kernel *r, const struct ksyms *k)
{
	ksyms_each(k, offcpu_kernel_want, offcpu_kernel_add, r);
}

void offcpu_kernel_free(struct offcpu_kernel *r)
{
	vec_free(&r->schedule.v);
	vec_free(&r->wake.v);
	vec_free(&r->interrupt.v);
}

/* Frames are return addresses: one right behind a function is still its. */
static bool in_ranges(const struct offcpu_ranges *r, uint64_t addr)
{
	vec_each (&r->v, x)
		if (addr > x->start && addr <= x->end)
			return true;
	return false;
}

uint32_t offcpu_kernel_skip(const struct offcpu_ranges *r, const uint64_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < HEAD; i++)
		if (in_ranges(r, frames[i]))
			return i + 1 < n ? i + 1 : i;
	return 0;
}

uint32_t offcpu_kernel_interrupt(const struct offcpu_kernel *k, const uint64_t *frames, uint32_t n)
{
	for (uint32_t i = n; i > 0; i--)
		if (in_ranges(&k->interrupt, frames[i - 1]))
			return i;
	return 0;
}
