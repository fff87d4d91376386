/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int read_all(int dir, const char *path, size_t cap, size_t limit, char **ret, size_t *len)
{
	AUTO_CLOSE int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *buf = NULL;
	size_t n = 0;

	if (fd < 0)
		return -errno;
	buf = mem_table(cap, false);
	for (;;) {
		ssize_t got = read(fd, buf + n, cap - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > limit)
			return -EFBIG;
		if (n + 1 == cap) {
			cap *= 2;
			buf = mem_grow(buf, cap);
		}
	}
	buf[n] = '\0';
	*ret = buf;
	buf = NULL;
	if (len)
		*len = n;
	return 0;
}

int file_readat(int dir, const char *path, size_t limit, char **ret, size_t *len)
{
	return read_all(dir, path, 4096, limit, ret, len);
}

int file_read(const char *path, size_t limit, char **ret, size_t *len)
{
	return file_readat(AT_FDCWD, path, limit, ret, len);
}

int file_read_large(const char *path, size_t likely, size_t limit, char **ret, size_t *len)
{
	return read_all(AT_FDCWD, path, likely, limit, ret, len);
}

int file_line(const char *path, char *buf, size_t size)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

int file_i64(const char *path, int64_t *ret)
{
	char buf[64], *end;
	int r = file_line(path, buf, sizeof(buf));
	long long v;

	if (r < 0)
		return r;
	errno = 0;
	v = strtoll(buf, &end, 0);
	if (errno || end == buf)
		return -EINVAL;
	*ret = v;
	return 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

void file_make_folders(const char *path, unsigned mode)
{
	AUTO_FREE char *copy = mem_strdup(path);

	for (char *p = copy + 1; *copy && *p; p++)
		if (*p == '/') {
			*p = 0;
			mkdir(copy, mode);
			*p = '/';
		}
	mkdir(copy, mode);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list(const char *dir, struct file_names *ret)
{
	struct file_names names = { 0 };
	struct dirent *d;
	size_t cap = 0;
	DIR *dp = opendir(dir);

	if (!dp)
		return -errno;
	while ((d = readdir(dp))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (names.n == cap) {
			cap = cap ? cap * 2 : 64;
			names.name = mem_grow(names.name, cap * sizeof(*names.name));
		}
		names.name[names.n++] = mem_strdup(d->d_name);
	}
	closedir(dp);
	if (names.n)
		qsort(names.name, names.n, sizeof(*names.name), by_name);
	*ret = names;
	return 0;
}

void file_names_free(struct file_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct file_names){ 0 };
}

int file_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

/* The folder that path is in. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return slash == path ? mem_strdup("/") : mem_printf("%.*s", (int)(slash - path), path);
}

int file_open_nameless(const char *path, unsigned mode)
{
	AUTO_FREE char *folder = folder_of(path);
	int fd = -1;

	if (!file_exists("/proc/self/fd")) /* it could not be published */
		return -EOPNOTSUPP;
	fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

int file_open_hidden(const char *path, unsigned mode, bool *hidden)
{
	struct stat st;
	int fd = -1;

	*hidden = false;
	if (lstat(path, &st) < 0 ? errno == ENOENT : S_ISREG(st.st_mode) && access(path, W_OK) == 0)
		fd = file_open_nameless(path, mode);
	if (fd >= 0) {
		*hidden = true;
		return fd;
	}
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

int file_open_new(const char *path, unsigned mode)
{
	int fd;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	return fd < 0 ? -errno : fd;
}

void file_drop(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

int file_publish(int fd, const char *path)
{
	AUTO_FREE char *self = mem_printf("/proc/self/fd/%d", fd), *other = NULL;

	if (linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	/* a link takes nobody's place, but renaming does */
	other = mem_printf("%s.%d", path, (int)getpid());
	unlink(other);
	if (linkat(AT_FDCWD, self, AT_FDCWD, other, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	if (rename(other, path) < 0) {
		int code = errno;

		unlink(other);
		return -code;
	}
	return 0;
}
