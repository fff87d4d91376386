/* SPDX-License-Identifier: MIT */
#include "live/attached.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kern/bpf.h"
#include "live/capture/close_events.h"

static int attached_keep(struct attached *a, int link)
{
	if (link < 0)
		return link;
	vec_push(&a->links, link);
	return 0;
}

int attached_raw(struct attached *a, int prog, const char *name)
{
	return attached_keep(a, bpf_attach_raw(prog, name));
}

int attached_event(struct attached *a, int prog, int event, uint64_t cookie)
{
	return attached_keep(a, bpf_link_event(prog, event, cookie));
}

int attached_set(int prog, int event)
{
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) < 0 ? -errno : 0;
}

int attached_iterate(int prog)
{
	int link = bpf_link(prog, 0, BPF_TRACE_ITER), fd = link < 0 ? link : bpf_iter(link), n;
	char buf[256];

	if (link >= 0)
		close(link);
	if (fd < 0)
		return fd;
	do
		n = (int)read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	close(fd);
	return 0;
}

void attached_stop(struct attached *a)
{
	vec_each (&a->events, fd)
		ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0);
	vec_each (&a->links, fd)
		close(*fd);
	a->links.n = 0;
}

void attached_close(struct attached *a)
{
	attached_stop(a);
	if (a->events.n)
		close_events(a->events.data, a->events.n);
	vec_free(&a->links);
	vec_free(&a->events);
}
