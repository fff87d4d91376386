/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/mem.h"

/* What a name leads to, not opened: no driver hears of it. */
static int find_place(int dir, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_PATH | O_CLOEXEC),
				.resolve = resolve };
	int fd = resolve ? (int)syscall(SYS_openat2, dir, path, &how, sizeof(how))
			 : openat(dir, path, (int)how.flags);

	return fd < 0 ? -errno : fd;
}

/* Open what place is; by its number in /proc, so that nobody can put another thing there. */
static int open_place(int place, const struct stat *is, int dir, const char *path, int flags)
{
	const int how = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char link[32];
	struct stat st;
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	fd = open(link, how);
	if (fd >= 0 || errno != ENOENT || file_exists("/proc/self"))
		return fd < 0 ? -errno : fd;
	/* a root without /proc: by its name then, and it must be the same */
	fd = openat(dir, path, how | flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_dev == is->st_dev && st.st_ino == is->st_ino)
		return fd;
	close(fd);
	return -ESTALE;
}

/* The kernel's own: a look at such a file may take away what it says (trace_pipe), or do things. */
static bool is_made_by_kernel(int place)
{
	static const uint32_t made[] = { PROC_SUPER_MAGIC,   SYSFS_MAGIC,	  TRACEFS_MAGIC,
					 DEBUGFS_MAGIC,	     SECURITYFS_MAGIC,	  BPF_FS_MAGIC,
					 CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, SELINUX_MAGIC,
					 SMACK_MAGIC,	     EFIVARFS_MAGIC,	  PSTOREFS_MAGIC,
					 BINFMTFS_MAGIC,     0x62656570 /* configfs */ };
	struct statfs fs;

	if (fstatfs(place, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		if ((uint32_t)fs.f_type == made[i])
			return true;
	return false;
}

static int open_regular(int dir, const char *path, int flags, uint64_t resolve, bool kernel,
			struct err *e)
{
	AUTO_CLOSE int place = find_place(dir, path, flags, resolve);
	struct stat st;
	int r = place;

	if (place >= 0)
		r = fstat(place, &st) < 0 ? -errno : S_ISLNK(st.st_mode) ? -ELOOP : 0;
	if (r == 0 && !S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "%s is not a regular file", path);
	if (r == 0 && !kernel && is_made_by_kernel(place))
		return err_set(e, EINVAL, "%s is no file, but the kernel's own", path);
	if (r == 0)
		r = open_place(place, &st, dir, path, flags);
	return r < 0 ? err_set(e, -r, "cannot open %s: %s", path, strerror(-r)) : r;
}

int file_openat_input(int dir, const char *path, int flags, uint64_t resolve, struct err *e)
{
	return open_regular(dir, path, flags, resolve, false, e);
}

int file_open_named(const char *path, struct err *e)
{
	return open_regular(AT_FDCWD, path, 0, 0, true, e);
}

int file_open_input(const char *path, struct err *e)
{
	return file_openat_input(AT_FDCWD, path, 0, 0, e);
}

int file_open_below(const char *root, const char *path)
{
	AUTO_CLOSE int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -errno
		       : file_openat_input(dir, path, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
					   NULL);
}

/* fd is taken over; below 0 it is the failure. */
static int file_read_all(int taken, size_t cap, size_t limit, char **ret, size_t *len)
{
	AUTO_CLOSE int fd = taken;
	AUTO_FREE char *buf = NULL;
	size_t n = 0;

	if (fd < 0)
		return fd;
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

static int open_to_read(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int file_readat(int dir, const char *path, size_t limit, char **ret, size_t *len)
{
	return file_read_all(open_to_read(dir, path), 4096, limit, ret, len);
}

int file_read_fd(int fd, size_t limit, char **ret, size_t *len)
{
	return file_read_all(fd, 4096, limit, ret, len);
}

int file_read_input(const char *path, size_t limit, char **ret, size_t *len)
{
	return file_read_all(file_open_input(path, NULL), 4096, limit, ret, len);
}

int file_read(const char *path, size_t limit, char **ret, size_t *len)
{
	return file_readat(AT_FDCWD, path, limit, ret, len);
}

int file_read_large(const char *path, size_t likely, size_t limit, char **ret, size_t *len)
{
	return file_read_all(open_to_read(AT_FDCWD, path), likely, limit, ret, len);
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

void file_make_folders(int dir, const char *path, unsigned mode)
{
	AUTO_FREE char *copy = mem_strdup(path);

	for (char *p = copy + 1; *copy && *p; p++)
		if (*p == '/') {
			*p = 0;
			mkdirat(dir, copy, mode);
			*p = '/';
		}
	mkdirat(dir, copy, mode);
}

void file_empty_folder(int folder)
{
	int own = fcntl(folder, F_DUPFD_CLOEXEC, 3);
	DIR *d = own >= 0 ? fdopendir(own) : NULL;
	const struct dirent *x;

	if (!d && own >= 0)
		close(own);
	if (!d)
		return;
	rewinddir(d);
	while ((x = readdir(d)))
		unlinkat(folder, x->d_name, 0); /* folders, like . and .., stay */
	closedir(d);
}

int file_drop_folders(int dir, char *path)
{
	for (char *slash;; *slash = 0) {
		if (unlinkat(dir, path, AT_REMOVEDIR) < 0)
			return errno == ENOTEMPTY || errno == EEXIST ? 0 : -errno;
		slash = strrchr(path, '/');
		if (!slash)
			return 0;
	}
}

static int file_by_name(const void *a, const void *b)
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
		qsort(names.name, names.n, sizeof(*names.name), file_by_name);
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

static int file_copy(int from, int to)
{
	struct stat st;
	off_t at = 0;
	ssize_t n = 1;

	if (fstat(from, &st) < 0)
		return -errno;
	while (at < st.st_size && n > 0)
		n = sendfile(to, from, &at, (size_t)(st.st_size - at));
	return n < 0 ? -errno : 0;
}

int file_replaceat(int dir, const char *path, int from, const void *data, size_t n, unsigned mode)
{
	AUTO_FREE char *other = mem_printf("%s.%d", path, (int)getpid());
	int fd, r;

	unlinkat(dir, other, 0);
	fd = openat(dir, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	r = from >= 0 ? file_copy(from, fd) : file_write_all(fd, data, n);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dir, other, dir, path) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, other, 0);
	return r;
}

int file_replace(const char *path, const void *data, size_t n, unsigned mode)
{
	return file_replaceat(AT_FDCWD, path, -1, data, n, mode);
}

void file_drop(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}
