/* SPDX-License-Identifier: MIT */
#include "live/capture/close_events.h"

#include <errno.h>
#include <fcntl.h>

#include "base/mem.h"

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
