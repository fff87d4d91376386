/* SPDX-License-Identifier: MIT */
#include "sym/find/debugdir.h"

#include <fcntl.h>
#include <limits.h>

#include "base/file.h"
#include "base/mem.h"
#include "sym/find/archive.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

bool debugdir_path(const char *path, struct strbuf *ret)
{
	const char *home = getenv("HOME"), *dir = getenv("PERF_BUILDID_DIR");

	strbuf_reset(ret);
	if (path || dir)
		strbuf_puts(ret, path ? path : dir);
	else if (home && *home)
		strbuf_printf(ret, "%s/.debug", home);
	return ret->n;
}

int debugdir_open(const char *path, bool make, struct err *e)
{
	AUTO_STRBUF b = { 0 };
	int fd;

	if (!debugdir_path(path, &b)) {
		err_set(e, ENOENT, "there is no home folder with a .debug in it");
		return err_hint(e, "name one with --buildid-dir DIR");
	}
	if (make)
		file_make_folders(AT_FDCWD, b.data, 0755);
	fd = open(b.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_set(e, errno, "cannot open %s: %s", b.data, strerror(errno)) : fd;
}

/* The folder that name is in; *base is the rest. No part may be a link or lead upwards. */
static int open_folder(int dir, const char *name, bool make, const char **base)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);

	for (;;) {
		size_t n = strcspn(name, "/");
		char part[NAME_MAX + 1];
		int next;

		if (!n || n > NAME_MAX ||
		    (name[0] == '.' && (n == 1 || (n == 2 && name[1] == '.'))))
			break;
		if (!name[n]) {
			*base = name;
			return at;
		}
		memcpy(part, name, n);
		part[n] = 0;
		if (make)
			mkdirat(at, part, 0755);
		next = openat(at, part, FOLDER_FLAGS);
		if (next < 0) {
			int r = -errno;

			close(at);
			return r;
		}
		close(at);
		at = next;
		name += n + 1;
	}
	close(at);
	return -EINVAL;
}

static int debugdir_refuse(const char *name, int code, struct err *e)
{
	return err_set(e, code, "cannot write %s into the build-id cache: %s", name,
		       strerror(code));
}

/* Below the folder, all that leads there made. -1 as from: data, else a copy of that. */
static int debugdir_put(int dir, const char *name, int from, const void *data, size_t n,
			struct err *e)
{
	const char *base = NULL;
	AUTO_CLOSE int folder = open_folder(dir, name, true, &base);
	int r = folder < 0 ? folder : file_replaceat(folder, base, from, data, n, 0644);

	return r < 0 ? debugdir_refuse(name, -r, e) : 0;
}

int debugdir_write(int dir, const char *name, const void *data, size_t n, struct err *e)
{
	const char *base = NULL;
	AUTO_CLOSE int folder = open_folder(dir, name, true, &base);
	struct stat st;
	int r;

	if (folder < 0)
		return debugdir_refuse(name, -folder, e);
	if (fstatat(folder, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 1;
	r = file_replaceat(folder, base, -1, data, n, 0644);
	return r < 0 ? debugdir_refuse(name, -r, e) : 0;
}

static int link_folder(int dir, const struct build_id *id, const char *folder, bool anew,
		       struct err *e)
{
	AUTO_STRBUF name = { 0 };
	AUTO_FREE char *target = mem_printf("../../%s", folder);
	const char *base = NULL;
	AUTO_CLOSE int at = -1;

	archive_link(&name, id);
	at = open_folder(dir, name.data, true, &base);
	if (at < 0)
		return debugdir_refuse(name.data, -at, e);
	if (symlinkat(target, at, base) == 0)
		return 0;
	if (errno == EEXIST && !anew)
		return 1;
	if (errno == EEXIST && unlinkat(at, base, 0) == 0 && symlinkat(target, at, base) == 0)
		return 0;
	return debugdir_refuse(name.data, errno, e);
}

int debugdir_link(int dir, const struct build_id *id, const char *folder, struct err *e)
{
	return link_folder(dir, id, folder, false, e);
}

/* The folder a build-id's link leads to, below dir; false: there is none, or it leads outside. */
static bool linked_folder(int dir, const struct build_id *id, char buf[PATH_MAX])
{
	AUTO_STRBUF name = { 0 };
	char *up = buf;
	ssize_t n;

	archive_link(&name, id);
	n = readlinkat(dir, name.data, buf, PATH_MAX - 1);
	if (n < 7 || strncmp(buf, "../../", 6) != 0)
		return false;
	buf[n] = 0;
	memmove(buf, buf + 6, (size_t)n - 5);
	while ((up = strstr(up, ".."))) {
		if ((up == buf || up[-1] == '/') && (up[2] == '/' || !up[2]))
			return false;
		up += 2;
	}
	return buf[0] && buf[0] != '/';
}

int debugdir_file(int dir, const struct build_id *id, const char *name)
{
	char folder[PATH_MAX];
	AUTO_FREE char *path = NULL;
	const char *base = NULL;
	AUTO_CLOSE int at = -1;

	if (!linked_folder(dir, id, folder))
		return -ENOENT;
	path = mem_printf("%s/%s", folder, name);
	at = open_folder(dir, path, false, &base);
	if (at < 0)
		return at;
	return file_openat_input(at, base, O_NOFOLLOW, 0, NULL);
}

bool debugdir_origin(int dir, const struct build_id *id, struct strbuf *ret)
{
	char folder[PATH_MAX], *slash;

	strbuf_reset(ret);
	if (!linked_folder(dir, id, folder))
		return false;
	slash = strrchr(folder, '/');
	strbuf_printf(ret, "%s%.*s", folder[0] == '[' ? "" : "/",
		      (int)(slash ? (size_t)(slash - folder) : strlen(folder)), folder);
	return true;
}

bool debugdir_has(int dir, const struct build_id *id, const char *name)
{
	AUTO_CLOSE int fd = debugdir_file(dir, id, name);

	return fd >= 0;
}

int debugdir_add(int dir, const char *shown, const struct build_id *id, const char *name, int fd,
		 bool link, struct err *e)
{
	AUTO_STRBUF file = { 0 };
	char self[64];
	const char *base = NULL;
	AUTO_CLOSE int folder = -1;
	size_t n;
	int r;

	if (debugdir_has(dir, id, name))
		return 1;
	archive_folder(&file, shown, id);
	n = file.n;
	strbuf_printf(&file, "/%s", name);
	folder = open_folder(dir, file.data, true, &base);
	if (folder < 0)
		return debugdir_refuse(file.data, -folder, e);
	/* the very file costs no room, and stays when its own name goes */
	unlinkat(folder, base, 0);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	r = link && linkat(AT_FDCWD, self, folder, base, AT_SYMLINK_FOLLOW) == 0
		    ? 0
		    : file_replaceat(folder, base, fd, NULL, 0, 0644);
	if (r < 0)
		return debugdir_refuse(file.data, -r, e);
	file.data[n] = 0;
	return link_folder(dir, id, file.data, true, e);
}

int debugdir_store(int dir, const char *shown, const struct build_id *id, const char *name,
		   const void *data, size_t n, struct err *e)
{
	AUTO_STRBUF file = { 0 };
	char folder[PATH_MAX];
	bool linked = linked_folder(dir, id, folder);
	size_t end;
	int r;

	if (linked)
		strbuf_puts(&file, folder);
	else
		archive_folder(&file, shown, id);
	end = file.n;
	strbuf_printf(&file, "/%s", name);
	r = debugdir_put(dir, file.data, -1, data, n, e);
	file.data[end] = 0;
	return r < 0 || linked ? r : link_folder(dir, id, file.data, true, e);
}

/* A folder of files, and those above it that are empty then. */
static int drop_folder(int dir, char *path)
{
	const char *base = NULL;
	AUTO_CLOSE int above = open_folder(dir, path, false, &base);
	AUTO_CLOSE int fd = above < 0 ? above : openat(above, base, FOLDER_FLAGS);

	if (fd < 0)
		return -ENOENT;
	file_empty_folder(fd);
	return file_drop_folders(dir, path);
}

int debugdir_remove(int dir, const struct build_id *id, struct err *e)
{
	AUTO_STRBUF name = { 0 };
	char folder[PATH_MAX], text[BUILD_ID_TEXT];
	bool linked = linked_folder(dir, id, folder);
	int r = 0;

	archive_link(&name, id);
	if (linked)
		r = drop_folder(dir, folder);
	if (unlinkat(dir, name.data, 0) < 0 && !linked)
		return err_set(e, ENOENT, "%s is not in the build-id cache",
			       build_id_text(id, text));
	*strrchr(name.data, '/') = 0;
	unlinkat(dir, name.data, AT_REMOVEDIR);
	return r < 0 && r != -ENOENT ? err_set(e, -r, "cannot remove %s: %s", folder, strerror(-r))
				     : 0;
}

static int each_of(int dir, const char *first, const char *folder, debugdir_fn *fn, void *ctx)
{
	struct file_names names = { 0 };
	int r = file_list(folder, &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *text = mem_printf("%s%s", first, names.name[i]);
		char path[PATH_MAX + 1];
		struct build_id id;
		char *slash;

		if (!build_id_parse(text, &id) || !linked_folder(dir, &id, path + 1))
			continue;
		path[0] = '/';
		slash = strrchr(path, '/');
		*slash = 0;
		r = fn(ctx, &id, path[1] == '[' ? path + 1 : path);
	}
	file_names_free(&names);
	return r;
}

int debugdir_each(int dir, debugdir_fn *fn, void *ctx)
{
	char root[64];
	AUTO_FREE char *ids = NULL;
	struct file_names names = { 0 };
	int r;

	snprintf(root, sizeof(root), "/proc/self/fd/%d", dir);
	ids = mem_printf("%s/.build-id", root);
	r = file_list(ids, &names);
	if (r == -ENOENT)
		return 0;
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *folder = mem_printf("%s/%s", ids, names.name[i]);

		if (strlen(names.name[i]) == 2)
			r = each_of(dir, names.name[i], folder, fn, ctx);
		if (r == -ENOENT || r == -ENOTDIR)
			r = 0;
	}
	file_names_free(&names);
	return r;
}
