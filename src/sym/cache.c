/* SPDX-License-Identifier: MIT */
#include "sym/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

static bool trusted(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int cache_open(const char *path, struct err *e)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	AUTO_FREE char *mine = NULL;
	int fd;

	if (path)
		mine = mem_strdup(path);
	else if (xdg && xdg[0] == '/')
		mine = mem_printf("%s/kymo", xdg);
	else if (home && home[0] == '/')
		mine = mem_printf("%s/.cache/kymo", home);
	else
		return err_set(e, ENOENT, "there is no home folder to keep a cache in");
	file_make_folders(mine, 0700);
	fd = open(mine, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot open the cache folder %s: %s", mine,
			       strerror(errno));
	if (!trusted(fd, S_IFDIR)) {
		close(fd);
		err_set(e, EPERM, "the cache folder %s is not yours alone", mine);
		return err_hint(e, "chown it to you and chmod 700, or set XDG_CACHE_HOME");
	}
	return fd;
}

/* "ab/cdef..." of a build-id. False when it is too short to be one. */
static bool id_path(const struct build_id *id, char *buf)
{
	if (id->len < 2)
		return false;
	build_id_text(id, buf);
	memmove(buf + 3, buf + 2, strlen(buf + 2) + 1);
	buf[2] = '/';
	return true;
}

/* The folder of a build-id, each step of it checked. */
static int id_folder(int cache, const struct build_id *id, bool make)
{
	char path[BUILD_ID_TEXT + 1], *slash;
	int first, second;

	if (cache <= 0 || !id_path(id, path))
		return -ENOENT;
	slash = strchr(path, '/');
	*slash = 0;
	if (make)
		mkdirat(cache, path, 0700);
	first = openat(cache, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (first < 0)
		return -errno;
	if (make)
		mkdirat(first, slash + 1, 0700);
	second = openat(first, slash + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(first);
	if (second < 0)
		return -errno;
	if (!trusted(second, S_IFDIR)) {
		close(second);
		return -EPERM;
	}
	return second;
}

int cache_get(int cache, const struct build_id *id, const char *name)
{
	AUTO_CLOSE int folder = id_folder(cache, id, false);
	int fd;

	if (folder < 0)
		return folder;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!trusted(fd, S_IFREG)) {
		close(fd);
		return -EPERM;
	}
	/* The time of last use, for cache_trim(); many file systems do not keep it themselves. */
	futimens(fd,
		 (const struct timespec[2]){ { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } });
	return fd;
}

static int copy(int from, int to, uint64_t limit)
{
	AUTO_FREE char *buf = mem_grow(NULL, 1u << 20);
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > limit)
		return -EFBIG;
	while (at < st.st_size) {
		ssize_t n = copy_file_range(from, &at, to, NULL, (size_t)(st.st_size - at), 0);

		if (n > 0)
			continue;
		if (n == 0)
			return 0;
		/* other file systems and old kernels: by hand */
		n = pread(from, buf, 1u << 20, at);
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		if (file_write_all(to, buf, (size_t)n) < 0)
			return -EIO;
		at += n;
	}
	return 0;
}

struct content {
	int fd; /* or, when -1 */
	const void *data;
	size_t n;
	uint64_t limit;
};

static int place(int cache, const struct build_id *id, const char *name, const struct content *c,
		 struct err *e)
{
	AUTO_CLOSE int folder = id_folder(cache, id, true);
	char tmp[64];
	int fd, r;

	if (folder < 0)
		return err_set(e, -folder, "cannot write to the cache: %s", strerror(-folder));
	snprintf(tmp, sizeof(tmp), ".%s.%d", name, (int)getpid());
	unlinkat(folder, tmp, 0);
	fd = openat(folder, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, errno, "cannot write to the cache: %s", strerror(errno));
	r = c->fd >= 0 ? copy(c->fd, fd, c->limit) : file_write_all(fd, c->data, c->n);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(folder, tmp, folder, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(folder, tmp, 0);
		return err_set(e, -r, "cannot write to the cache: %s", strerror(-r));
	}
	return 0;
}

int cache_put(int cache, const struct build_id *id, const char *name, int fd, uint64_t limit,
	      struct err *e)
{
	int there = cache_get(cache, id, name);

	if (there >= 0) {
		close(there);
		return 0;
	}
	return place(cache, id, name, &(struct content){ .fd = fd, .limit = limit }, e);
}

int cache_write(int cache, const struct build_id *id, const char *name, const void *data, size_t n,
		struct err *e)
{
	return place(cache, id, name, &(struct content){ .fd = -1, .data = data, .n = n }, e);
}

int cache_keep(int cache, const struct build_id *id, const char *path, int fd, uint64_t limit,
	       struct err *e)
{
	int r = cache_put(cache, id, "elf", fd, limit, e);

	return r < 0 ? r : cache_write(cache, id, "path", path, strlen(path), e);
}

int cache_kept(const struct build_id *id)
{
	AUTO_CLOSE int cache = id->len ? cache_open(NULL, NULL) : -ENOENT;

	return cache < 0 ? cache : cache_get(cache, id, "elf");
}

struct old_file {
	char *path; /* below the cache folder */
	uint64_t size;
	int64_t used;
};
typedef VEC(struct old_file) old_files;

static void list_folder(int cache, const char *path, int depth, old_files *all)
{
	int fd = openat(cache, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		AUTO_FREE char *below = NULL;
		struct stat st;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		below = mem_printf("%s%s%s", depth ? path : "", depth ? "/" : "", d->d_name);
		if (S_ISDIR(st.st_mode) && depth < 2) {
			list_folder(cache, below, depth + 1, all);
		} else if (S_ISREG(st.st_mode) && depth > 0) {
			vec_push(all, (struct old_file){ below, (uint64_t)st.st_blocks * 512,
							 st.st_atim.tv_sec > st.st_mtim.tv_sec
								 ? st.st_atim.tv_sec
								 : st.st_mtim.tv_sec });
			below = NULL;
		}
	}
	closedir(dir);
}

static int by_use(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* The folders of a file that was the last one in them. */
static void drop_folders(int cache, char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		*slash = 0;
		if (unlinkat(cache, path, AT_REMOVEDIR) < 0)
			return;
	}
}

uint64_t cache_trim(int cache, uint64_t limit, bool force)
{
	static const char stamp[] = ".trimmed";
	old_files all = { 0 };
	uint64_t sum = 0, given = 0;
	struct stat st;
	int fd;

	if (cache <= 0 || (!force && fstatat(cache, stamp, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			   time(NULL) - st.st_mtime < 24 * 3600))
		return 0;
	fd = openat(cache, stamp, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		futimens(fd, NULL);
		close(fd);
	}
	list_folder(cache, ".", 0, &all);
	vec_each (&all, f)
		sum += f->size;
	if (all.n)
		qsort(all.data, all.n, sizeof(*all.data), by_use);
	vec_each (&all, f) {
		if (sum - given > limit && unlinkat(cache, f->path, 0) == 0) {
			given += f->size;
			drop_folders(cache, f->path);
		}
		free(f->path);
	}
	vec_free(&all);
	return given;
}

/* Names of all files are listed first: fn may remove some. */
uint64_t cache_size(int cache)
{
	old_files all = { 0 };
	uint64_t n = 0;

	if (cache > 0)
		list_folder(cache, ".", 0, &all);
	vec_each (&all, f) {
		n += f->size;
		free(f->path);
	}
	vec_free(&all);
	return n;
}

int cache_each(int cache, cache_fn *fn, void *ctx)
{
	old_files all = { 0 };
	int r = 0;

	if (cache <= 0)
		return 0;
	list_folder(cache, ".", 0, &all);
	vec_each (&all, f) {
		char *slash = strrchr(f->path, '/'), id_text[BUILD_ID_TEXT];
		AUTO_FREE char *path = NULL;
		struct build_id id;

		if (r == 0 && slash && strcmp(slash, "/path") == 0 && slash - f->path > 3 &&
		    slash - f->path < BUILD_ID_TEXT) {
			snprintf(id_text, sizeof(id_text), "%.2s%.*s", f->path,
				 (int)(slash - f->path - 3), f->path + 3);
			if (build_id_parse(id_text, &id) &&
			    file_readat(cache, f->path, 65536, &path, NULL) == 0)
				r = fn(ctx, &id, path);
		}
		free(f->path);
	}
	vec_free(&all);
	return r;
}

int cache_remove(int cache, const struct build_id *id)
{
	int fd = id_folder(cache, id, false);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	char path[BUILD_ID_TEXT + 8];
	const struct dirent *d;

	if (!dir)
		return -ENOENT;
	while ((d = readdir(dir)))
		unlinkat(fd, d->d_name, 0);
	closedir(dir);
	id_path(id, path);
	memcpy(path + strlen(path), "/x", 3);
	drop_folders(cache, path);
	return 0;
}
