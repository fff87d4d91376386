/* SPDX-License-Identifier: MIT */
#include "live/capture/side_rings.h"

#include <string.h>

#include "base/mem.h"
#include "kern/cpu.h"
#include "kern/perf.h"

#define RING_BYTES (256u << 10)

int side_rings_open(struct side_rings *s, struct perf_event_attr a, pid_t pid, struct err *e)
{
	struct cpus online = { 0 };
	int r = cpus_online(&online, e);

	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.sample_type = SIDE_RINGS_SAMPLE;
	a.sample_id_all = a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
	s->ring = mem_alloc((online.n + 1) * sizeof(*s->ring));
	for (size_t i = 0; i < online.n && r == 0; i++) {
		int fd = perf_open(&a, pid, online.cpu[i], -1, PERF_FLAG_FD_CLOEXEC);

		r = fd < 0 ? err_set(e, -fd, "cannot follow processes: %s", strerror(-fd))
			   : ring_open(&s->ring[s->n], fd, RING_BYTES, false, e);
		if (r == 0)
			s->n++;
		else if (fd >= 0)
			close(fd);
	}
	cpus_free(&online);
	return r;
}

void side_rings_close(struct side_rings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		int fd = s->ring[i].fd;

		ring_close(&s->ring[i]);
		close(fd);
	}
	free(s->ring);
	*s = (struct side_rings){ 0 };
}
