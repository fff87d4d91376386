/* SPDX-License-Identifier: MIT */
#include "live/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/bpf.h"

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

/* Keep these, drop all else, and end when the parent has closed its own. */
static void __attribute__((noreturn)) child(const int *fd, size_t n, int pipe_fd)
{
	int max = pipe_fd;
	char *keep;

	for (size_t i = 0; i < n; i++)
		max = fd[i] > max ? fd[i] : max;
	keep = mem_alloc((size_t)max + 1);
	keep[pipe_fd] = 1;
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			keep[fd[i]] = 1;
	for (int i = 0; i <= max; i++)
		if (!keep[i])
			close(i);
	close_range((unsigned)max + 1, ~0u, 0);
	setsid();
	while (read(pipe_fd, keep, 1) < 0 && errno == EINTR)
		;
	_Exit(0);
}

void close_events(const int *fd, size_t n)
{
	int fds[2] = { -1, -1 };
	pid_t pid = pipe2(fds, O_CLOEXEC) < 0 ? -1 : fork();

	if (pid == 0) {
		close(fds[1]);
		child(fd, n, fds[0]);
	}
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
