/* SPDX-License-Identifier: MIT */
#include "kern/cgroup.h"

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "kern/tracefs.h"

const char *cgroup_root(void)
{
	static char root[256];

	if (root[0] || mounts_find("cgroup", "perf_event", root, sizeof(root)) == 0 ||
	    mounts_find("cgroup2", NULL, root, sizeof(root)) == 0)
		return root;
	return NULL;
}

/* The kernel opens it by its id; a descriptor, or -1 where it does not allow that. */
static int open_by_id(const char *root, uint64_t id)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} u = { .h = { .handle_bytes = sizeof(id), .handle_type = 0xfe } }; /* FILEID_KERNFS */
	int mount = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	if (mount < 0)
		return -1;
	memcpy(u.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, &u.h, O_PATH | O_CLOEXEC);
	close(mount);
	return fd;
}

/* The same by looking at all of them: the inode is the id. */
static bool search_id(char *root, uint64_t id, char *path, size_t size)
{
	FTS *fts = fts_open((char *[]){ root, NULL }, FTS_PHYSICAL | FTS_XDEV, NULL);
	bool found = false;

	for (FTSENT *x; fts && !found && (x = fts_read(fts));)
		if (x->fts_info == FTS_D && x->fts_statp->st_ino == id) {
			snprintf(path, size, "%s", x->fts_path);
			found = true;
		}
	if (fts)
		fts_close(fts);
	return found;
}

bool cgroup_path(uint64_t id, struct strbuf *b)
{
	char root[256], path[PATH_MAX], link[64];
	ssize_t n = -1;
	int fd;

	if (mounts_find("cgroup2", NULL, root, sizeof(root)) < 0)
		return false;
	fd = open_by_id(root, id);
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		close(fd);
	}
	if (n > 0)
		path[n] = '\0';
	else if (!search_id(root, id, path, sizeof(path)))
		return false;
	if (!str_starts(path, root))
		return false;
	strbuf_puts(b, path[strlen(root)] ? path + strlen(root) : "/");
	return true;
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
