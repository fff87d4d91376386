/* SPDX-License-Identifier: MIT */
#include "live/ftrace/own.h"

#include <string.h>

/*
 * Events of which a thread that takes pages makes a few each time it wakes, not some
 * for each page. Not sched: whether a switch between one of ours and another thread is
 * ours to take out, only the kernel's filter decides well.
 */
static bool is_quiet(const char *event)
{
	static const char *const systems[] = { "syscalls", "raw_syscalls", "block", "irq",
					       "signal",   "net",	   "napi",  "skb",
					       "sock",	   "tcp",	   "udp",   "power" };
	size_t n = strcspn(event, ":/");

	for (size_t i = 0; i < ARRAY_SIZE(systems); i++)
		if (strlen(systems[i]) == n && strncmp(event, systems[i], n) == 0)
			return true;
	return !event[n] &&
	       (strncmp(event, "sys_enter_", 10) == 0 || strncmp(event, "sys_exit_", 9) == 0);
}

static bool all_quiet(const struct ftrace_buffer_opt *o)
{
	if (o->tracer && strcmp(o->tracer, "nop") != 0)
		return false;
	for (size_t i = 0; i < o->events.n; i++)
		if (!is_quiet(o->events.data[i].name))
			return false;
	return true;
}

int ftrace_own_exclude(struct ftrace *f, const struct ftrace_capture *c, struct err *e)
{
	const pid_t *tids;
	size_t n;

	vec_each (&f->buffers, b)
		b->own_inside = all_quiet(b->opt);
	tids = ftrace_capture_tids(c, &n);
	return ftrace_exclude(f, tids, n, e);
}
