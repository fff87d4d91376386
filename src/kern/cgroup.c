/* SPDX-License-Identifier: MIT */
#include "kern/cgroup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* Is the option one of the comma-separated words? */
static bool has_option(const char *options, const char *option)
{
	size_t n = strlen(option);

	for (const char *p = options; (p = strstr(p, option)); p += n)
		if ((p == options || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

const char *cgroup_root(void)
{
	static char root[256];
	char v2[256] = "";
	AUTO_FREE char *mounts = NULL;
	char *save = NULL;

	if (root[0])
		return root;
	if (file_read("/proc/mounts", 4 << 20, &mounts, NULL) < 0)
		return NULL;
	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char where[256], type[32], options[512];

		if (sscanf(line, "%*s %255s %31s %511s", where, type, options) != 3)
			continue;
		if (strcmp(type, "cgroup") == 0 && has_option(options, "perf_event")) {
			snprintf(root, sizeof(root), "%s", where);
			return root;
		}
		if (strcmp(type, "cgroup2") == 0 && !v2[0])
			snprintf(v2, sizeof(v2), "%s", where);
	}
	snprintf(root, sizeof(root), "%s", v2);
	return root[0] ? root : NULL;
}

int cgroup_open(const char *name, struct err *e)
{
	const char *root = cgroup_root();
	AUTO_FREE char *path = NULL;
	int fd;

	if (!root) {
		err_set(e, ENOENT, "no cgroup hierarchy is mounted");
		return err_hint(e, "mount -t cgroup2 none /sys/fs/cgroup");
	}
	while (*name == '/')
		name++;
	path = mem_printf("%s/%s", root, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err_set(e, errno, "no cgroup '%s' (%s: %s)", name, path, strerror(errno));
		return err_hint(e, "find %s -type d lists them", root);
	}
	return fd;
}
