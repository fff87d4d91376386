/* SPDX-License-Identifier: MIT */
#include "cmd/file/archive.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/output.h"
#include "base/str.h"

/* Where packages and compilers put sources, and nobody puts secrets. */
static const char *const usual[] = { "/usr/src", "/usr/include", "/usr/lib", "/usr/local" };

static bool find_user(struct archive_rights *r, const char *recording)
{
	struct stat st;
	uid_t uid = 0;
	gid_t gid;

	if (geteuid() != 0)
		return false; /* then the kernel sees to it */
	if (stat(recording, &st) == 0)
		uid = st.st_uid;
	if (!uid && !output_user(&uid, &gid))
		return false;
	as_user_find(&r->user, uid);
	return true;
}

static int add_root(struct archive_rights *r, const char *path, bool guessed)
{
	AUTO_FREE char *real = realpath(path, NULL);
	int fd;

	if (!real)
		return -errno;
	if (guessed && strcmp(real, "/") == 0)
		return 0; /* that would be everything */
	fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	vec_push(&r->roots, ((struct archive_root){ fd, real }));
	real = NULL;
	return 0;
}

int archive_rights_init(struct archive_rights *r, const char *recording,
			const struct vec_strs *below, struct err *e)
{
	AUTO_FREE char *folder = NULL;
	const char *slash = strrchr(recording, '/');
	int code;

	*r = (struct archive_rights){ .chosen = below->n > 0 };
	r->limited = find_user(r, recording);
	for (size_t i = 0; i < below->n; i++) {
		code = add_root(r, below->data[i], false);
		if (code < 0)
			return err_set(e, -code, "cannot open %s: %s", below->data[i],
				       strerror(-code));
	}
	if (r->chosen)
		return 0;
	folder = slash ? mem_strndup(recording, (size_t)(slash - recording) + 1) : mem_strdup(".");
	add_root(r, folder, true);
	add_root(r, ".", true);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		add_root(r, usual[i], true);
	return 0;
}

void archive_rights_free(struct archive_rights *r)
{
	vec_each (&r->roots, x) {
		close(x->fd);
		free(x->path);
	}
	vec_free(&r->roots);
}

/* By its path, with the rights of the user; root's own recordings have none to ask. */
static int open_as(const struct archive_rights *r, int dir, const char *path, uint64_t resolve)
{
	struct as_user before;
	int fd = r->limited ? as_user_begin(&r->user, &before) : 0;

	if (fd < 0)
		return fd;
	fd = file_openat_input(dir, path, 0, resolve, NULL);
	if (r->limited)
		as_user_end(&before);
	return fd;
}

bool archive_may_read(const struct archive_rights *r, const char *path)
{
	AUTO_CLOSE int fd = !r->limited ? -1 : open_as(r, AT_FDCWD, path, 0);

	return !r->limited || fd >= 0;
}

/* What only root may read is no source, where nobody said that it is. */
static bool is_secret(const struct archive_rights *r, int fd)
{
	struct stat st;

	return geteuid() == 0 && !r->limited && !r->chosen &&
	       (fstat(fd, &st) < 0 || !(st.st_mode & S_IROTH));
}

int archive_open_source(const struct archive_rights *r, const char *path)
{
	int fd = -EXDEV;

	vec_each (&r->roots, x) {
		size_t n = strlen(x->path);

		if (n == 1)
			n = 0; /* "/", which was given */
		if (strncmp(path, x->path, n) != 0 || path[n] != '/')
			continue;
		fd = open_as(r, x->fd, path + n + 1, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
		if (fd >= 0)
			break;
	}
	/* all folders above must let the user through, too */
	if (fd >= 0 && (is_secret(r, fd) || !archive_may_read(r, path))) {
		close(fd);
		return -EACCES;
	}
	return fd;
}
