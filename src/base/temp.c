/* SPDX-License-Identifier: MIT */
#include "base/temp.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define START "kymo-tmp-"

static const char *where(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* Opened and locked, or -1: it is somebody else's, no folder, or in use. */
static int temp_take(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

static void sweep(const char *dir)
{
	struct file_names names = { 0 };

	if (file_list(dir, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *path = NULL;
		int fd;

		if (!str_starts(names.name[i], START))
			continue;
		path = mem_printf("%s/%s", dir, names.name[i]);
		fd = temp_take(path);
		if (fd < 0)
			continue;
		file_empty_folder(fd);
		rmdir(path);
		close(fd);
	}
	file_names_free(&names);
}

int temp_make(struct temp *ret, struct err *e)
{
	const char *dir = where();
	int code = 0;

	sweep(dir);
	/* another's sweep may come before the lock: then the folder is gone, and made again */
	for (int tries = 0; tries < 8; tries++) {
		AUTO_FREE char *path = mem_printf("%s/" START "XXXXXX", dir);
		int fd = -1;

		if (!mkdtemp(path)) {
			code = errno;
			break;
		}
		fd = temp_take(path);
		if (fd >= 0 && file_exists(path)) {
			*ret = (struct temp){ .path = path, .fd = fd };
			path = NULL;
			return 0;
		}
		code = EBUSY;
		if (fd >= 0)
			close(fd);
	}
	err_set(e, code, "cannot make a folder for temporary files in %s: %s", dir, strerror(code));
	return code == ENOSPC ? err_hint(e, "the disk is full; TMPDIR=FOLDER names another place")
			      : err_hint(e, "TMPDIR=FOLDER names another place");
}

int temp_file(struct err *e)
{
	const char *dir = where();
	AUTO_FREE char *path = mem_printf("%s/" START "XXXXXX", dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), code;

	if (fd >= 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC); /* not all file systems make such files */
	code = errno;
	if (fd >= 0) {
		unlink(path);
		return fd;
	}
	err_set(e, code, "cannot make a temporary file in %s: %s", dir, strerror(code));
	return err_hint(e, "TMPDIR=FOLDER names another place");
}

void temp_remove(struct temp *t)
{
	if (!t->path)
		return;
	file_empty_folder(t->fd);
	rmdir(t->path);
	close(t->fd);
	free(t->path);
	*t = (struct temp){ .fd = -1 };
}
