/* SPDX-License-Identifier: MIT */
#include "live/ftrace/live.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "live/ftrace/about.h"
#include "live/ftrace/capture.h"
#include "store/tracedat/live.h"

typedef VEC(struct tracedat_live_cpu) live_cpus;

/* The raw pages of each CPU. */
static int ftrace_live_cpus(const char *dir, live_cpus *ret, struct err *e)
{
	AUTO_FREE uint32_t *cpus = NULL;
	size_t n = 0;
	int r = ftrace_cpus(dir, &cpus, &n, e);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		AUTO_FREE char *path = mem_printf("%s/per_cpu/cpu%u/trace_pipe_raw", dir, cpus[i]);
		int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0)
			r = err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
		else
			vec_push(ret, (struct tracedat_live_cpu){ .cpu = cpus[i], .fd = fd });
	}
	return r;
}

int ftrace_live_open(const struct ftrace *f, struct source **ret, struct err *e)
{
	const char *dir = f->buffers.data[0].dir;
	AUTO_FREE char *clocks = NULL;
	struct tracedat_out parts = { 0 };
	live_cpus cpus = { 0 };
	int r = ftrace_about(f, &parts, e);

	if (r >= 0)
		r = ftrace_get(dir, "trace_clock", &clocks, NULL, e);
	if (r >= 0)
		r = ftrace_live_cpus(dir, &cpus, e);
	parts.clocks = clocks;
	if (r >= 0) {
		r = tracedat_live_open(&parts, cpus.data, cpus.n, ftrace_page_size(dir), ret, e);
		cpus.n = 0; /* they are the source's */
	}
	vec_each (&cpus, c)
		close(c->fd);
	vec_free(&cpus);
	tracedat_out_free(&parts);
	return r;
}
