/* SPDX-License-Identifier: MIT */
#include "kern/perf.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/mem.h"

/* Where config3 stands since Linux 6.3 (PERF_ATTR_SIZE_VER8). */
#define CONFIG3_AT 128
#define SIZE_WITH_CONFIG3 136

static int open_sized(void *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	long fd;

	do
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			     flags | PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	attr->size = sizeof(*attr);
	return open_sized(attr, pid, cpu, group_fd, flags);
}

int perf_open_config3(struct perf_event_attr *attr, uint64_t config3, pid_t pid, int cpu,
		      int group_fd, unsigned long flags)
{
	union {
		struct perf_event_attr attr;
		char bytes[sizeof(*attr) > SIZE_WITH_CONFIG3 ? sizeof(*attr) : SIZE_WITH_CONFIG3];
	} u;

	if (!config3)
		return perf_open(attr, pid, cpu, group_fd, flags);
	memset(&u, 0, sizeof(u));
	u.attr = *attr;
	u.attr.size = sizeof(u);
	memcpy(u.bytes + CONFIG3_AT, &config3, sizeof(config3));
	return open_sized(&u, pid, cpu, group_fd, flags);
}

int perf_pmu(const char *name)
{
	AUTO_FREE char *path = mem_printf("/sys/bus/event_source/devices/%s/type", name);
	int64_t type;

	return file_i64(path, &type) < 0 ? -1 : (int)type;
}

int perf_probe_attr(bool user, bool ret, const char *target, uint64_t offset, uint64_t semaphore,
		    struct perf_event_attr *attr)
{
	int type = perf_pmu(user ? "uprobe" : "kprobe");

	*attr = (struct perf_event_attr){ .type = (uint32_t)type,
					  .config = ret | semaphore << 32,
					  .config1 = (uintptr_t)target,
					  .config2 = offset,
					  .sample_period = 1,
					  .wakeup_events = 1 };
	return type < 0 ? -ENOENT : 0;
}

bool perf_has(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = { .type = type, .config = config, .disabled = 1 };
	int fd = perf_open(&attr, 0, -1, -1, 0);

	if (fd == -EACCES || fd == -EPERM) {
		attr.exclude_kernel = attr.exclude_hv = 1;
		fd = perf_open(&attr, 0, -1, -1, 0);
	}
	if (fd >= 0)
		close(fd);
	return fd != -ENOENT && fd != -EOPNOTSUPP && fd != -EINVAL && fd != -ENODEV;
}

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
