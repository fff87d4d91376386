/* SPDX-License-Identifier: MIT */
#include "sym/find/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"

#define COPY_BYTES (1u << 20)
#define HOLES_MAX 64u /* what file systems that pack leave of a text */

static bool trusted(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Is it, or would it be, in a folder of another user's? */
static bool is_anothers(const char *path)
{
	AUTO_FREE char *above = mem_strdup(path);
	struct stat st;
	char *slash;

	while (stat(above, &st) < 0 && (slash = strrchr(above, '/')) && slash > above)
		*slash = 0;
	return stat(above, &st) == 0 && st.st_uid != 0;
}

/*
 * Where the cache is; NULL: nowhere. sudo may leave HOME as it was: root's files do not belong
 * into a user's home, where a link could lead root anywhere and the user could not use them.
 */
static char *usual_place(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	AUTO_FREE char *mine = NULL;
	const struct passwd *root;
	char *found;

	if (xdg && xdg[0] == '/')
		mine = mem_printf("%s/kymo", xdg);
	else if (home && home[0] == '/')
		mine = mem_printf("%s/.cache/kymo", home);
	if (mine && geteuid() == 0 && is_anothers(xdg && xdg[0] == '/' ? xdg : home)) {
		root = getpwuid(0);
		return root ? mem_printf("%s/.cache/kymo", root->pw_dir) : NULL;
	}
	found = mine;
	mine = NULL;
	return found;
}

int cache_open(const char *path, struct err *e)
{
	AUTO_FREE char *mine = path ? mem_strdup(path) : usual_place();
	int fd;

	if (!mine)
		return err_set(e, ENOENT, "there is no home folder to keep a cache in");
	file_make_folders(AT_FDCWD, mine, 0700);
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

static const char *const kinds[] = { [CACHE_FILE] = "file",
				     [CACHE_CONTENT] = "content",
				     [CACHE_RECORDING] = "recording",
				     [CACHE_KERNEL] = "kernel" };
#define KEY_PATH 64

/* "file/ab/cdef..."; false for CACHE_NONE. */
static bool key_path(const struct cache_key *k, char buf[static KEY_PATH])
{
	char *p = buf;

	if (!k->kind)
		return false;
	p = stpcpy(p, kinds[k->kind]);
	*p++ = '/';
	p = str_hex(p, k->data, 1);
	*p++ = '/';
	str_hex(p, k->data + 1, sizeof(k->data) - 1);
	return true;
}

static int key_folder(int cache, const struct cache_key *k, bool make)
{
	char path[KEY_PATH];
	int fd;

	if (cache <= 0 || !key_path(k, path))
		return -ENOENT;
	fd = openat(cache, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && make) {
		file_make_folders(cache, path, 0700); /* nobody else puts anything there */
		fd = openat(cache, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0)
		return -errno;
	if (!trusted(fd, S_IFDIR)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int cache_get(int cache, const struct cache_key *k, const char *name)
{
	AUTO_CLOSE int folder = key_folder(cache, k, false);
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

int cache_map(int cache, const struct cache_key *k, const char *name, void **ret, size_t *size)
{
	AUTO_CLOSE int fd = cache_get(cache, k, name);
	struct stat st;
	void *p;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !st.st_size)
		return -EBADMSG;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	*size = (size_t)st.st_size;
	return 0;
}

static int cannot(int code, struct err *e)
{
	return err_set(e, code, "cannot write to the cache: %s", strerror(code));
}

int cache_write(int cache, const struct cache_key *k, const char *name, const void *data, size_t n,
		struct err *e)
{
	AUTO_CLOSE int folder = key_folder(cache, k, true);
	int r = folder < 0 ? folder : file_replaceat(folder, name, -1, data, n, 0600);

	return r < 0 ? cannot(-r, e) : 0;
}

/* --- copies ----------------------------------------------------------------------------------- */

/*
 * Read, not mapped, and never more than room: whoever writes it may cut it or add to it at any
 * moment. The digest is of what was really copied.
 */
static int find_cache_copy(int from, int to, const char *path, uint64_t *room, uint8_t *digest)
{
	AUTO_FREE char *buf = mem_grow(NULL, COPY_BYTES);
	uint64_t all = 0;
	struct digest d;
	struct stat st;
	ssize_t n;

	if (fstat(from, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > *room || (uint64_t)st.st_size / HOLES_MAX > budget_size(&st))
		return -EFBIG;
	digest_start(&d);
	digest_add(&d, path, strlen(path) + 1);
	while ((n = pread(from, buf, COPY_BYTES, (off_t)all)) != 0) {
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		all += (uint64_t)n;
		if (all > *room)
			return -EFBIG;
		digest_add(&d, buf, (size_t)n);
		r = file_write_all(to, buf, (size_t)n);
		if (r < 0)
			return r;
	}
	if (!all)
		return -ENODATA;
	digest_end(&d, digest);
	*room -= all;
	return 0;
}

/* Gives the copy its place, unless the same is there. */
static int place_copy(int cache, const char *tmp, const struct cache_key *k)
{
	AUTO_CLOSE int there = cache_get(cache, k, "elf");
	AUTO_CLOSE int folder = there >= 0 ? -1 : key_folder(cache, k, true);

	if (there >= 0) {
		unlinkat(cache, tmp, 0);
		return 0;
	}
	if (folder < 0)
		return folder;
	return renameat(cache, tmp, folder, "elf") < 0 ? -errno : 0;
}

int cache_keep(int cache, const char *path, struct build_id *id, int fd, uint64_t *room,
	       struct cache_key *ret, struct err *e)
{
	static _Atomic unsigned number;
	struct cache_key k = { .kind = CACHE_CONTENT };
	char tmp[64], text[BUILD_ID_TEXT];
	AUTO_FREE char *about = NULL;
	int to, r;

	mkdirat(cache, kinds[CACHE_CONTENT], 0700);
	snprintf(tmp, sizeof(tmp), "%s/.copy.%d.%u", kinds[CACHE_CONTENT], (int)getpid(), number++);
	to = openat(cache, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return cannot(errno, e);
	r = find_cache_copy(fd, to, path, room, k.data);
	if (close(to) < 0 && r == 0)
		r = -errno;
	if (r == 0)
		r = place_copy(cache, tmp, &k);
	if (r < 0) {
		unlinkat(cache, tmp, 0);
		return cannot(-r, e);
	}
	if (!id->len) {
		id->len = sizeof(k.data);
		memcpy(id->data, k.data, sizeof(k.data));
	}
	about = mem_printf("%s %s", build_id_text(id, text), path);
	*ret = k;
	return cache_write(cache, &k, "about", about, strlen(about), e);
}

int cache_note(int cache, const struct recording_id *r, const struct build_id *id, const char *path,
	       const struct cache_key *copy, struct err *e)
{
	struct cache_key k = cache_key_recording(r, id, path);

	return cache_write(cache, &k, "copy", copy->data, sizeof(copy->data), e);
}

int cache_copy(int cache, const struct recording_id *r, const struct build_id *id, const char *path,
	       struct cache_key *ret)
{
	struct cache_key k = r ? cache_key_recording(r, id, path) : (struct cache_key){ 0 };
	AUTO_CLOSE int note = cache_get(cache, &k, "copy");

	if (note < 0 || read(note, k.data, sizeof(k.data)) != sizeof(k.data))
		k = cache_key_content(id);
	k.kind = k.kind ? CACHE_CONTENT : CACHE_NONE;
	if (ret)
		*ret = k;
	return cache_get(cache, &k, "elf");
}

int cache_kept(const struct build_id *id)
{
	AUTO_CLOSE int cache = id->len ? cache_open(NULL, NULL) : -ENOENT;

	return cache < 0 ? cache : cache_copy(cache, NULL, id, "", NULL);
}

struct old_file {
	char *path; /* below the cache folder */
	uint64_t size;
	int64_t used;
	bool older; /* as earlier versions had it: by build-id alone, and of no use */
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
		if (S_ISDIR(st.st_mode) && depth < 3) {
			list_folder(cache, below, depth + 1, all);
		} else if (S_ISREG(st.st_mode) && depth > 0) {
			vec_push(all,
				 (struct old_file){ .path = below,
						    .size = (uint64_t)st.st_blocks * 512,
						    .used = st.st_atim.tv_sec > st.st_mtim.tv_sec
								    ? st.st_atim.tv_sec
								    : st.st_mtim.tv_sec,
						    .older = strchr(below, '/') == below + 2 });
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
		if ((f->older || sum - given > limit) && unlinkat(cache, f->path, 0) == 0) {
			given += f->size;
			*strrchr(f->path, '/') = 0;
			file_drop_folders(cache, f->path);
		}
		free(f->path);
	}
	vec_free(&all);
	return given;
}

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

/* A copy's folder ("content/ab/cdef...") and what is told of it; false: it is none. */
static bool about(int cache, char *path, struct build_id *id, char **text, const char **name)
{
	char *slash = strrchr(path, '/'), *blank;

	if (!slash || strcmp(slash, "/about") != 0 ||
	    file_readat(cache, path, 65536, text, NULL) < 0 || !(blank = strchr(*text, ' ')))
		return false;
	*slash = *blank = 0;
	*name = blank + 1;
	return build_id_parse(*text, id);
}

/* Names of all files are listed first: fn may remove some. */
int cache_each(int cache, cache_fn *fn, void *ctx)
{
	old_files all = { 0 };
	int r = 0;

	if (cache <= 0)
		return 0;
	list_folder(cache, ".", 0, &all);
	vec_each (&all, f) {
		AUTO_FREE char *text = NULL;
		const char *name;
		struct build_id id;

		if (r == 0 && about(cache, f->path, &id, &text, &name))
			r = fn(ctx, &id, name);
		free(f->path);
	}
	vec_free(&all);
	return r;
}

/* What was found out about it goes with it. */
static void drop_copy(int cache, char *folder)
{
	AUTO_CLOSE int fd = openat(cache, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		file_empty_folder(fd);
	file_drop_folders(cache, folder);
}

int cache_remove(int cache, const struct build_id *want)
{
	old_files all = { 0 };
	int r = -ENOENT;

	if (cache <= 0)
		return r;
	list_folder(cache, ".", 0, &all);
	vec_each (&all, f) {
		AUTO_FREE char *text = NULL;
		const char *name;
		struct build_id id;

		if (about(cache, f->path, &id, &text, &name) && build_id_same(&id, want)) {
			drop_copy(cache, f->path);
			r = 0;
		}
		free(f->path);
	}
	vec_free(&all);
	return r;
}
