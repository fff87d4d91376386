/* SPDX-License-Identifier: MIT */
/* The kernel's side of synth: its own place, its modules', cgroups. */
#include "live/about/synth.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "kern/cgroup.h"
#include "kern/modules.h"

static int kernel_record(const struct synth *s, uint64_t start, uint64_t len, uint64_t pgoff,
			 const char *name, struct err *e)
{
	struct synth_record r;

	r.n = 0;
	synth_u32(&r, UINT32_MAX);
	synth_u32(&r, 0);
	synth_u64(&r, start);
	synth_u64(&r, len);
	synth_u64(&r, pgoff);
	synth_string(&r, name);
	return synth_emit(s, &r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0, e);
}

/* /proc/modules: "name size refs deps state 0xaddress". */
static int modules(const struct synth *s, struct err *e)
{
	AUTO_FREE char *text = NULL;
	struct modules files;
	char *save = NULL;
	int r = 0;

	if (file_read("/proc/modules", 16u << 20, &text, NULL) < 0)
		return 0;
	modules_open(&files);
	for (char *line = strtok_r(text, "\n", &save); line && r >= 0;
	     line = strtok_r(NULL, "\n", &save)) {
		AUTO_FREE char *path = NULL;
		unsigned long long size, addr;
		char name[128];

		if (sscanf(line, "%127s %llu %*s %*s %*s %llx", name, &size, &addr) != 3 || !addr)
			continue;
		path = modules_path(&files, name);
		if (!path)
			path = mem_printf("[%s]", name);
		r = kernel_record(s, addr, size, 0, path, e);
	}
	modules_close(&files);
	return r;
}

int synth_kernel(const struct synth *s, const struct ksyms *k, struct err *e)
{
	int r;

	if (!k->start)
		return 0;
	r = kernel_record(s, k->start, k->end - k->start, k->start, "[kernel.kallsyms]_text", e);
	return r < 0 ? r : modules(s, e);
}

static int cgroup_record(const struct synth *s, const char *root, const char *path, struct err *e)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} handle = { .h.handle_bytes = sizeof(uint64_t) };
	AUTO_FREE char *full = mem_printf("%s%s", root, path);
	struct synth_record r;
	uint64_t id;
	int mount;

	if (strlen(path) >= PATH_MAX || name_to_handle_at(AT_FDCWD, full, &handle.h, &mount, 0) < 0)
		return 0;
	memcpy(&id, handle.h.f_handle, sizeof(id));
	r.n = 0;
	synth_u64(&r, id);
	synth_string(&r, *path ? path : "/");
	return synth_emit(s, &r, PERF_RECORD_CGROUP, 0, 0, 0, e);
}

static int cgroups_below(const struct synth *s, const char *root, const char *path, unsigned depth,
			 struct err *e)
{
	AUTO_FREE char *full = mem_printf("%s%s", root, path);
	int r = cgroup_record(s, root, path, e);
	const struct dirent *d;
	DIR *dir;

	if (r < 0 || depth > 32 || !(dir = opendir(full)))
		return r;
	while (r >= 0 && (d = readdir(dir))) {
		AUTO_FREE char *child = NULL;

		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		child = mem_printf("%s/%s", path, d->d_name);
		r = cgroups_below(s, root, child, depth + 1, e);
	}
	closedir(dir);
	return r;
}

int synth_cgroups(const struct synth *s, struct err *e)
{
	const char *root = cgroup_root();

	return root ? cgroups_below(s, root, "", 0, e) : 0;
}
