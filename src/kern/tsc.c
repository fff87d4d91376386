/* SPDX-License-Identifier: MIT */
#include "kern/tsc.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "kern/perf.h"

int tsc_scale(struct tsc_scale *ret, struct err *e)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	AUTO_CLOSE int fd = perf_open(&attr, 0, -1, -1, 0);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	bool known;

	if (fd < 0)
		return err_set(e, -fd, "cannot ask how fast the cycle counter is: %s",
			       strerror(-fd));
	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return err_set(e, errno, "cannot ask how fast the cycle counter is: %s",
			       strerror(errno));
	known = page->cap_user_time && page->cap_user_time_zero && page->time_mult;
	*ret = (struct tsc_scale){ page->time_mult, page->time_shift, page->time_zero };
	munmap(page, size);
	if (known)
		return 0;
	err_set(e, ENOTSUP, "the kernel does not say how fast the cycle counter is");
	return err_hint(e, "it is no stable clock on this machine; -C mono is in nanoseconds");
}
