/* SPDX-License-Identifier: MIT */
/* The facts about the machine that no try_*.c finds out: files, limits, versions. */
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/mem.h"
#include "config.h"
#include "event/symline.h"
#include "kern/ability/ability.h"
#include "kern/cgroup.h"
#include "kern/perf.h"
#include "kern/proc.h"
#include "kern/tracefs.h"

static void kernel(struct ability_host *h)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (uname(&u) < 0)
		return;
	snprintf(h->release, sizeof(h->release), "%s", u.release);
	snprintf(h->machine, sizeof(h->machine), "%.31s", u.machine);
	if (sscanf(u.release, "%d.%d", &major, &minor) == 2)
		h->version = major << 16 | minor << 8;
}

static void processor(struct ability_host *h)
{
	static const char *const keys[] = { "model name", "cpu model", "cpu", "CPU part" };
	AUTO_FREE char *text = NULL;

	h->cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	h->cpus_all = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	/* The first CPU is enough: a machine of many has a file of megabytes. */
	if (file_read("/proc/cpuinfo", 16 << 20, &text, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys) - 1 && !h->cpu[0]; i++)
		proc_value(text, keys[i], ':', h->cpu, sizeof(h->cpu));
}

static void clocks(struct ability_host *h)
{
#define CLOCK "/sys/devices/system/clocksource/clocksource0/"
	file_line(CLOCK "current_clocksource", h->clock, sizeof(h->clock));
	file_line(CLOCK "available_clocksource", h->clocks, sizeof(h->clocks));
}

static void kernel_names(struct ability_host *h)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/usr/lib/modules/%s/vmlinux",
		"/usr/lib/debug/vmlinux-%s",
		"/lib/modules/%s/build/vmlinux",
		"/lib/modules/%s/vmlinux",
		"/boot/vmlinux-%s",
	};
	AUTO_CLOSE int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char text[16384];
	const char *at = text;
	struct symline l = { 0 };
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	/* To those who may not know them every address is 0. */
	while (n > 0 && !h->kallsyms && symline_next(&l, &at, text + n))
		h->kallsyms = l.addr != 0;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !h->vmlinux[0]; i++) {
		int len = snprintf(h->vmlinux, sizeof(h->vmlinux), places[i], h->release);

		if (len >= (int)sizeof(h->vmlinux) || access(h->vmlinux, R_OK) < 0)
			h->vmlinux[0] = '\0';
	}
}

void ability_distro(const char *root, char *buf, size_t size)
{
	AUTO_FREE char *etc = mem_printf("%s/etc/os-release", root);
	AUTO_FREE char *usr = mem_printf("%s/usr/lib/os-release", root);
	AUTO_FREE char *text = NULL;

	*buf = '\0';
	if (file_read(etc, 1 << 16, &text, NULL) == 0 || file_read(usr, 1 << 16, &text, NULL) == 0)
		proc_value(text, "ID", '=', buf, size);
}

static void distribution(struct ability_host *h)
{
	AUTO_FREE char *modules = mem_printf("/lib/modules/%s/kernel", h->release);
	AUTO_FREE char *image = mem_printf("/boot/vmlinuz-%s", h->release);

	h->distro_kernel = file_exists(modules) || file_exists(image);
	ability_distro("", h->distro, sizeof(h->distro));
}

static void debuginfod(struct ability_host *h)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	h->debuginfod_built = HAVE_LIBDEBUGINFOD;
	if (!urls)
		return;
	urls += strspn(urls, " ");
	snprintf(h->debuginfod, sizeof(h->debuginfod), "%.*s", (int)strcspn(urls, " "), urls);
}

/* 0 when path, or where it does not exist yet its nearest parent, can be written. */
static int writable(const char *path)
{
	AUTO_FREE char *p = mem_strdup(path);

	while (access(p, W_OK) < 0) {
		char *slash = strrchr(p, '/');

		if (errno != ENOENT || !slash || !slash[1])
			return -errno;
		slash[slash == p] = '\0';
	}
	return 0;
}

static void files(struct ability_host *h)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct statvfs v;

	if (cache && cache[0] == '/')
		snprintf(h->cache, sizeof(h->cache), "%s/kymo", cache);
	else if (home && home[0] == '/')
		snprintf(h->cache, sizeof(h->cache), "%s/.cache/kymo", home[1] ? home : "");
	h->cache_error = h->cache[0] ? writable(h->cache) : -ENOENT;
	if (!getcwd(h->cwd, sizeof(h->cwd)))
		snprintf(h->cwd, sizeof(h->cwd), ".");
	h->cwd_error = access(".", W_OK) < 0 ? -errno : 0;
	if (statvfs(".", &v) == 0)
		h->cwd_free = (uint64_t)v.f_bavail * v.f_frsize;
}

static uint64_t limit(int which, bool hard)
{
	struct rlimit r;
	rlim_t v;

	if (getrlimit((__rlimit_resource_t)which, &r) < 0)
		return UINT64_MAX;
	v = hard ? r.rlim_max : r.rlim_cur;
	return v == RLIM_INFINITY ? UINT64_MAX : (uint64_t)v;
}

/* Count page faults of the root cgroup, which is everybody's: needs the right to see all. */
static int try_cgroup(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS,
					.disabled = 1 };
	struct err e = { 0 };
	AUTO_CLOSE int dir = cgroup_open("/", &e);
	int fd;

	if (dir < 0)
		return dir;
	fd = perf_open(&attr, dir, 0, -1, PERF_FLAG_PID_CGROUP);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void cgroups(struct ability_host *h)
{
	AUTO_FREE char *text = NULL;
	char v2[256] = "", v1[256] = "";
	int enabled = 0;
	struct statfs st;
	const char *row;

	mounts_find("cgroup2", NULL, v2, sizeof(v2));
	mounts_find("cgroup", NULL, v1, sizeof(v1));
	if (statfs("/sys/fs/cgroup", &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC)
		snprintf(h->cgroup, sizeof(h->cgroup), "v2");
	else if (v1[0] || v2[0])
		snprintf(h->cgroup, sizeof(h->cgroup), "%s",
			 v1[0] && v2[0] ? "hybrid"
			 : v1[0]	? "v1"
					: "v2");
	h->cgroup_try = try_cgroup();
	if (file_read("/proc/cgroups", 1 << 16, &text, NULL) < 0)
		return;
	row = strstr(text, "\nperf_event\t");
	h->cgroup_perf = row && sscanf(row + 12, "%*d %*d %d", &enabled) == 1 && enabled;
}

void ability_host_read(struct ability_host *h)
{
	*h = (struct ability_host){ .userns_max = TRY_ABSENT };
	kernel(h);
	processor(h);
	clocks(h);
	kernel_names(h);
	distribution(h);
	debuginfod(h);
	files(h);
	h->memlock = limit(RLIMIT_MEMLOCK, false);
	h->nofile = limit(RLIMIT_NOFILE, false);
	h->nofile_hard = limit(RLIMIT_NOFILE, true);
	file_i64("/proc/sys/user/max_user_namespaces", &h->userns_max);
	cgroups(h);
}
