/* SPDX-License-Identifier: MIT */
#include "live/capture/open_event.h"

#include <sys/resource.h>

#include "kern/perf.h"

static bool raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= lim.rlim_max)
		return false;
	lim.rlim_cur = lim.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &lim) == 0;
}

int open_event(struct event_spec *s, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags)
{
	int fd = perf_open_config3(attr, s->config3, pid, cpu, group, flags);

	if (fd == -EMFILE && raise_file_limit())
		fd = perf_open_config3(attr, s->config3, pid, cpu, group, flags);
	if (fd == -EINVAL && !s->guest_host && (attr->exclude_guest || attr->exclude_host)) {
		struct perf_event_attr plain = *attr;

		plain.exclude_guest = plain.exclude_host = 0;
		fd = perf_open_config3(&plain, s->config3, pid, cpu, group, flags);
		if (fd >= 0) {
			*attr = plain;
			s->attr.exclude_guest = s->attr.exclude_host = 0;
		}
	}
	return fd;
}

bool open_narrow(struct event_spec *s, struct perf_event_attr *attr, struct arena *names,
		 bool system_wide, int code)
{
	if ((code != EACCES && code != EPERM) || attr->exclude_kernel || s->modified ||
	    system_wide || s->kind == SPEC_TRACEPOINT)
		return false;
	attr->exclude_kernel = attr->exclude_hv = 1;
	s->attr.exclude_kernel = s->attr.exclude_hv = 1;
	if (!(s->terms & SPEC_TERM_NAME))
		s->name = arena_printf(names, "%s:u", s->name);
	return true;
}
