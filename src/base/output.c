/* SPDX-License-Identifier: MIT */
#include "base/output.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define MAX_LINKS 16
#define MAX_TRIES 16 /* another may make or remove the name at the same moment */

/* A name in a folder. */
struct place {
	const char *path; /* as the user has it, for messages */
	int folder;
	bool by_link;	 /* some link led to the folder */
	bool users_link; /* one of the user behind sudo has its name */
	uid_t link_owner;
	char *base;
	struct stat st; /* what has the name; st_mode 0: nothing */
	mode_t mode;	/* of what is made */
};

static bool read_id(const char *name, uint32_t *id)
{
	const char *text = secure_getenv(name);
	uint64_t v;

	if (!text || !str_u64(text, &v) || v >= UINT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

bool output_user(uid_t *uid, gid_t *gid)
{
	if (getuid() != 0 || geteuid() != 0 || !read_id("SUDO_UID", uid) || !*uid)
		return false;
	if (!read_id("SUDO_GID", gid))
		*gid = (gid_t)-1; /* as it is */
	return true;
}

/*
 * May that user have a file here? In one's own folder, and where all may write. Elsewhere only
 * if the path says so itself: a link in it could be the user's, and lead to where root's programs
 * are started from.
 */
static bool may_have(const struct place *p, uid_t uid)
{
	struct stat st;

	return fstat(p->folder, &st) == 0 &&
	       (st.st_uid == uid || st.st_mode & S_IWOTH || !p->by_link);
}

/* fd is of a file that was made here. One that cannot be given away stays root's. */
static int output_give(const struct place *p, int fd)
{
	uid_t uid;
	gid_t gid;

	if (fd >= 0 && output_user(&uid, &gid) && may_have(p, uid))
		(void)!fchown(fd, uid, gid);
	return fd;
}

/* ---- where ---- */

static int open_folder(int dir, const char *path, bool *by_link)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	*by_link = *by_link || fd < 0;
	if (fd < 0)
		fd = openat(dir, path, (int)how.flags);
	return fd < 0 ? -errno : fd;
}

static int output_look(struct place *p)
{
	if (fstatat(p->folder, p->base, &p->st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	p->st.st_mode = 0;
	return errno == ENOENT ? 0 : -errno;
}

/* The name that path, seen from dir, means; p->folder is another then. */
static int walk(struct place *p, int dir, const char *path)
{
	AUTO_FREE char *copy = mem_strdup(path);
	char *slash = strrchr(copy, '/'), *base = slash ? slash + 1 : copy;
	bool last = *base && strcmp(base, ".") != 0 && strcmp(base, "..") != 0;
	int folder;

	if (!last)
		return *path ? -EISDIR : -ENOENT;
	free(p->base);
	p->base = mem_strdup(base);
	if (slash)
		slash[slash == copy] = 0;
	folder = open_folder(dir, slash ? copy : ".", &p->by_link);
	if (p->folder >= 0)
		close(p->folder);
	p->folder = folder;
	return folder < 0 ? folder : output_look(p);
}

enum whose { OURS, USERS, ANOTHERS };

static enum whose whose(const struct stat *st)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() != 0 || st->st_uid == 0)
		return OURS;
	return output_user(&uid, &gid) && uid == st->st_uid ? USERS : ANOTHERS;
}

static int output_refuse(const struct place *p, const char *what, uid_t uid, struct err *e)
{
	err_set(e, EPERM, "%s is a %s that user %u made: root does not write through it", p->path,
		what, uid);
	return err_hint(e, "remove it, or name another file");
}

/* Root goes where a link of the user behind sudo leads, if that is the user's too. */
static bool is_users(const struct place *p)
{
	struct stat st;

	return fstat(p->folder, &st) == 0 && (st.st_mode & S_IWOTH || whose(&st) == USERS) &&
	       (!p->st.st_mode || whose(&p->st) == USERS);
}

/* Where the link leads; by its descriptor, since the name may be another one's by now. */
static int output_follow(struct place *p, bool *itself, struct err *e)
{
	AUTO_CLOSE int link = openat(p->folder, p->base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	AUTO_CLOSE int from = fcntl(p->folder, F_DUPFD_CLOEXEC, 3);
	char target[PATH_MAX];
	struct statfs fs;
	struct stat st;
	ssize_t n;

	if (link < 0 || fstat(link, &st) < 0 || fstatfs(link, &fs) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return output_look(p);
	if (whose(&st) == ANOTHERS)
		return output_refuse(p, "link", st.st_uid, e);
	if (whose(&st) == USERS) {
		p->users_link = true;
		p->link_owner = st.st_uid;
	}
	/* /proc/self/fd/1 has no text that leads there, and is what the user has open */
	*itself = fs.f_type == PROC_SUPER_MAGIC;
	if (*itself)
		return 0;
	n = readlinkat(link, "", target, sizeof(target));
	if (n < 0 || n == sizeof(target))
		return n < 0 ? -errno : -ENAMETOOLONG;
	target[n] = 0;
	p->by_link = true;
	return walk(p, from, target);
}

/* Find the name to write to. *itself: it is to be opened as it is, link or not. */
static int output_find(struct place *p, const char *path, bool *itself, struct err *e)
{
	int r;

	*itself = false;
	p->path = path;
	p->folder = -1;
	r = walk(p, AT_FDCWD, path);
	for (int i = 0; r == 0 && S_ISLNK(p->st.st_mode) && !*itself; i++)
		r = i < MAX_LINKS ? output_follow(p, itself, e) : -ELOOP;
	if (r == 0 && p->users_link && !*itself && !is_users(p))
		return output_refuse(p, "link", p->link_owner, e);
	if (r == 0 && S_ISFIFO(p->st.st_mode) && whose(&p->st) == ANOTHERS)
		return output_refuse(p, "pipe", p->st.st_uid, e);
	return r;
}

static void output_forget(struct place *p)
{
	if (p->folder >= 0)
		close(p->folder);
	free(p->base);
}

/* why, when that was said already; else what the kernel says. */
static int output_failed(int r, const char *path, const struct err *why, struct err *e)
{
	if (!why->code)
		return err_cannot_write(e, -r, path);
	if (e)
		*e = *why;
	return r;
}

/* ---- what is there ---- */

/* A device, a pipe, what /proc/self/fd has. */
static int open_itself(const struct place *p, bool link, int access)
{
	int fd = openat(p->folder, p->base,
			access | O_NOCTTY | O_CLOEXEC | (link ? O_TRUNC : O_NOFOLLOW));

	return fd < 0 ? -errno : fd;
}

/* -EMLINK: it has another name, and would change there too. */
static int open_in_place(const struct place *p, int access, bool append)
{
	int fd = openat(p->folder, p->base,
			access | (append ? O_APPEND : 0) | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK |
				O_CLOEXEC);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EAGAIN;
	else if (st.st_nlink > 1)
		r = -EMLINK;
	else if (!append && ftruncate(fd, 0) < 0)
		r = -errno;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

/* ---- what is made ---- */

static char *temporary_name(const struct place *p, const char *base)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint64_t)getpid();
	return mem_printf("%.*s.%08x", (int)(NAME_MAX - 9), base ? base : p->base,
			  (unsigned)random);
}

static int output_make(const struct place *p, const char *name, int access)
{
	int fd = openat(p->folder, name, access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			p->mode);

	return fd < 0 ? -errno : output_give(p, fd);
}

static int make_hidden(struct output *o, const struct place *p, int access)
{
	int fd = -1;

	if (file_exists("/proc/self/fd")) /* else it could not be published */
		fd = openat(p->folder, ".", access | O_TMPFILE | O_CLOEXEC, p->mode);
	if (fd >= 0)
		return output_give(p, fd);
	o->temp = temporary_name(p, NULL);
	fd = output_make(p, o->temp, access);
	if (fd < 0) {
		free(o->temp);
		o->temp = NULL;
	}
	return fd;
}

static int open_whole(struct output *o, struct place *p, int access)
{
	bool there = p->st.st_mode != 0;
	int r, code;

	if (there && faccessat(p->folder, p->base, W_OK, AT_EACCESS) < 0)
		return -errno;
	o->fd = code = make_hidden(o, p, access);
	if (o->fd >= 0) {
		o->hidden = true;
		o->folder = p->folder;
		o->base = p->base;
		p->folder = -1;
		p->base = NULL;
		return 0;
	}
	/* no new file may be made in that folder, but one that is there may be written */
	r = there ? open_in_place(p, access, false) : code;
	o->fd = r < 0 ? -1 : r;
	return r < 0 ? code : 0;
}

int output_open(struct output *o, const char *path, int access, struct err *e)
{
	struct place p = { .mode = 0600 };
	struct err why = { 0 };
	bool itself;
	int r = output_find(&p, path, &itself, &why);

	*o = OUTPUT_NONE;
	if (r == 0 && (itself || (p.st.st_mode && !S_ISREG(p.st.st_mode))))
		r = o->fd = open_itself(&p, itself, access);
	else if (r == 0)
		r = open_whole(o, &p, access);
	output_forget(&p);
	if (r >= 0)
		return 0;
	o->fd = -1;
	return output_failed(r, path, &why, e);
}

int output_publish(struct output *o)
{
	AUTO_FREE char *self = NULL;
	int r = 0;

	if (!o->hidden)
		return 0;
	o->hidden = false;
	if (!o->temp) {
		self = mem_printf("/proc/self/fd/%d", o->fd);
		if (linkat(AT_FDCWD, self, o->folder, o->base, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		/* a link takes nobody's place, but renaming does */
		o->temp = temporary_name(NULL, o->base);
		if (linkat(AT_FDCWD, self, o->folder, o->temp, AT_SYMLINK_FOLLOW) < 0)
			r = -errno;
	}
	if (r == 0 && renameat(o->folder, o->temp, o->folder, o->base) < 0) {
		r = -errno;
		unlinkat(o->folder, o->temp, 0);
	}
	free(o->temp);
	o->temp = NULL;
	return r;
}

int output_close(struct output *o)
{
	int r = 0;

	if (o->hidden && o->temp)
		unlinkat(o->folder, o->temp, 0);
	if (o->fd >= 0 && close(o->fd) < 0)
		r = -errno;
	if (o->folder >= 0)
		close(o->folder);
	free(o->base);
	free(o->temp);
	*o = OUTPUT_NONE;
	return r;
}

void output_drop(struct output *o)
{
	struct stat mine, there;

	if (!o->hidden && o->folder >= 0 && o->fd >= 0 && fstat(o->fd, &mine) == 0 &&
	    fstatat(o->folder, o->base, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
		unlinkat(o->folder, o->base, 0);
	output_close(o);
}

/* ---- what grows ---- */

static int output_grow(struct place *p, bool itself, int flags)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < MAX_TRIES; i++) {
		if (i && (r = output_look(p)) < 0)
			return r;
		if (itself || (p->st.st_mode && !S_ISREG(p->st.st_mode)))
			return flags & O_EXCL ? -EEXIST : open_itself(p, itself, O_WRONLY);
		if (!p->st.st_mode) {
			r = output_make(p, p->base, O_WRONLY | (flags & O_APPEND));
			r = r == -EEXIST && !(flags & O_EXCL) ? -EAGAIN : r;
			continue;
		}
		if (flags & O_EXCL)
			return -EEXIST;
		r = open_in_place(p, O_WRONLY, flags & O_APPEND);
		if (r == -ENOENT)
			r = -EAGAIN;
		if (r == -EMLINK && !(flags & O_APPEND))
			r = unlinkat(p->folder, p->base, 0) < 0 ? -errno : -EAGAIN;
	}
	return r;
}

int output_growing(const char *path, int flags, mode_t mode, struct err *e)
{
	struct place p = { .mode = mode };
	struct err why = { 0 };
	bool itself;
	int r = output_find(&p, path, &itself, &why);

	if (r == 0)
		r = output_grow(&p, itself, flags);
	output_forget(&p);
	return r < 0 ? output_failed(r, path, &why, e) : r;
}
