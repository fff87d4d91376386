/* SPDX-License-Identifier: MIT */
/*
 * The stack that is walked, a piece of which is read at once.
 */
#pragma once

#include "walk_maps.h"

#define PAGE_MASK 4095ull

/*
 * Read last + 1 words of the stack, and those above them up to the page's end, which are there when
 * the first is, or to where the last stack ended. Global, to be verified once. 0 when the words
 * are there.
 */
__noinline int stack_fill(struct state *s, __u64 place, __u32 last)
{
	__u64 size = PAGE_MASK + 1 - (place & PAGE_MASK), need = 8 * (last & 7) + 8;

	if (!s)
		return 1;
	if (size > s->bottom - place)
		size = s->bottom - place;
	asm volatile("" : "+r"(size)); /* for Linux 6.1: bounds last */
	if (size > STACK_WINDOW)
		size = STACK_WINDOW;
	if (size < need)
		size = need;
	s->base = place;
	s->size = 0;
	if (bpf_probe_read_user(s->window, size, (void *)place))
		return 1;
	s->size = size;
	return 0;
}

/* Where in the window the words of the stack from place on are, of which there are last + 1. */
static __always_inline bool stack_words(struct state *s, __u64 place, __u32 last, __u64 *ret)
{
	__u64 off = place - s->base, beyond = s->size - 8 * last - 1 - off;

	/* One branch instead of three, as in mask_less. */
	beyond = (off | beyond) >> 63 | (off & 7);
	asm volatile("" : "+r"(beyond));
	if (beyond) {
		if (stack_fill(s, place, last))
			return false;
		off = 0;
	}
	*ret = (off >> 3) & (STACK_WINDOW / 8 - 1);
	return true;
}
