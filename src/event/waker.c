/* SPDX-License-Identifier: MIT */
#include "event/waker.h"

#include <string.h>

bool waker_is_event(const char *name)
{
	return strncmp(name, WAKER_EVENT, sizeof(WAKER_EVENT) - 1) == 0;
}

bool waker_of(const struct event *ev, struct waker *ret)
{
	const struct waker_head *h = ev->raw;
	size_t room;

	if (!(ev->have & EVENT_HAVE_RAW) || ev->raw_size < sizeof(*h) || h->magic != WAKER_MAGIC ||
	    (uintptr_t)(h + 1) % sizeof(uint64_t))
		return false;
	room = (ev->raw_size - sizeof(*h)) / sizeof(uint64_t);
	if (h->n_kernel > room || h->n_user > room - h->n_kernel ||
	    !memchr(h->comm, '\0', sizeof(h->comm)))
		return false;
	ret->head = h;
	ret->kernel = (const uint64_t *)(h + 1);
	ret->user = ret->kernel + h->n_kernel;
	return true;
}
