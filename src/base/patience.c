/* SPDX-License-Identifier: MIT */
#include "base/patience.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include "base/guard.h"

#define TAKEN_WHOLE 4096u /* by a pipe that can be written to, without waiting */

static int ms_left(uint64_t until)
{
	struct timespec t;
	uint64_t now;

	if (!until)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return now < until ? (int)((until - now) / 1000000) + 1 : 0;
}

bool patience_ready(const struct patience *p, int fd, short events)
{
	struct pollfd fds[2] = { { .fd = fd, .events = events },
				 { .fd = p ? p->end_fd : -1, .events = POLLIN } };

	while (poll(fds, 2, ms_left(p ? p->until : 0)) < 0 && errno == EINTR)
		;
	return fds[0].revents;
}

static bool may_wait(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

int patience_write(const struct patience *p, int fd, const void *data, size_t n, size_t *done)
{
	bool waits = may_wait(fd);

	*done = 0;
	while (*done < n) {
		size_t part = waits && n - *done > TAKEN_WHOLE ? TAKEN_WHOLE : n - *done;
		int r;

		if (waits && !patience_ready(p, fd, POLLOUT))
			return -EINTR;
		r = guard_write(fd, (const char *)data + *done, part);
		if (r < 0)
			return r;
		*done += part;
	}
	return 0;
}
