/* SPDX-License-Identifier: MIT */
#include "kern/mounts.h"

#include <errno.h>
#include <mntent.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"

/* From <linux/mount.h>, which cannot be included beside <sys/mount.h> everywhere. */
#define FSOPEN_CLOEXEC_FLAG 1u
#define FSMOUNT_CLOEXEC_FLAG 1u
#define FSCONFIG_CREATE 6u

int mounts_find(const char *type, const char *option, char *path, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	char buf[4096 + 1024];
	struct mntent m;
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (getmntent_r(f, &m, buf, sizeof(buf))) {
		if (strcmp(m.mnt_type, type) != 0 || (option && !hasmntopt(&m, option)))
			continue;
		r = snprintf(path, size, "%s", m.mnt_dir) < (int)size ? 0 : -ENAMETOOLONG;
		break;
	}
	endmntent(f);
	return r;
}

int mounts_private(const char *type)
{
#ifdef SYS_fsopen
	AUTO_CLOSE int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC_FLAG);
	long fd;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC_FLAG, 0);
	return fd < 0 ? -errno : (int)fd;
#else
	(void)type;
	return -ENOSYS;
#endif
}
