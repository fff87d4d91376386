/* SPDX-License-Identifier: MIT */
/*
 * kymo archive --unpack: the files of an archive into the build-id cache or a folder.
 * perf archive's tar files are taken too, packed in any way there is a program for here.
 *
 * What an archive says is not believed: files go only below the folder, links are made
 * only as the cache has them, and nothing that is there already is written over, nor is anything
 * put beside it. What came is marked, and serves the archive's own recording.
 */
#include "cmd/file/archive.h"

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/wait.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/output.h"
#include "base/str.h"
#include "base/temp.h"
#include "cmd/command.h"
#include "cmd/share/open.h"
#include "sym/find/archive.h"
#include "sym/find/debugdir.h"

static const struct {
	const char *magic;
	size_t n;
	const char *program;
} packers[] = {
	{ "BZh", 3, "bzip2" },
	{ "\x1f\x8b", 2, "gzip" },
	{ "\xfd\x37zXZ", 5, "xz" },
};

struct unpacking {
	const struct archive_args *o;
	const char *file;
	struct budget disk;
	int dir;
	size_t files, there, left;
	const char *recording;	     /* where it went; NULL: there was none */
	VEC(struct build_id) marked; /* those that came */
};

static int copy_all(int from, int to, struct budget *disk, const char *name, struct err *e)
{
	AUTO_FREE char *buf = mem_alloc(1u << 20);
	ssize_t n;

	while ((n = read(from, buf, 1u << 20)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, errno, "cannot unpack: %s", strerror(errno));
		if (budget_take(disk, (uint64_t)n, name, e) < 0)
			return -EFBIG;
		if (file_write_all(to, buf, (size_t)n) < 0)
			return err_set(e, errno, "cannot unpack: %s", strerror(errno));
	}
	return 0;
}

/* fd's content through another program; a new descriptor. fd stays open. */
static int run_packer(int fd, const char *program, struct budget *disk, const char *name,
		      struct err *e)
{
	int out[2], tmp = temp_file(e), status = 0, r;
	pid_t pid;

	if (tmp < 0)
		return tmp;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(tmp);
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		dup2(fd, STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execlp(program, program, "-dc", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	r = pid < 0 ? err_set(e, errno, "cannot start %s", program)
		    : copy_all(out[0], tmp, disk, name, e);
	close(out[0]); /* ends one that has more to say */
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		err_set(e, ENOENT, "it is packed with %s, which is not installed", program);
		r = err_hint(e, "install %s, or unpack it elsewhere", program);
	} else if (r == 0 && status) {
		r = err_set(e, EBADMSG, "%s could not unpack it: it is damaged", program);
	}
	if (r < 0) {
		close(tmp);
		return r;
	}
	return tmp;
}

/* A tar archive, whatever it is packed with. fd is taken over. */
static int open_any(struct unpacking *u, int fd, const char *name, struct tar **ret, struct err *e)
{
	char start[512];
	ssize_t n = pread(fd, start, sizeof(start), 0);

	for (size_t i = 0; n > 0 && i < ARRAY_SIZE(packers); i++) {
		int plain;

		if ((size_t)n < packers[i].n || memcmp(start, packers[i].magic, packers[i].n) != 0)
			continue;
		lseek(fd, 0, SEEK_SET);
		plain = run_packer(fd, packers[i].program, &u->disk, name, e);
		close(fd);
		return plain < 0 ? plain : tar_open_fd(plain, name, ret, e);
	}
	if (n >= 8 && memcmp(start, "PERFILE2", 8) == 0) {
		close(fd);
		err_set(e, EINVAL, "%s is a recording, not an archive", name);
		return err_hint(e, "kymo archive %s makes one of it", name);
	}
	return tar_open_fd(fd, name, ret, e);
}

/* The folder PATH/ID of a build-id that the cache had before: nothing is added to it. */
static bool is_own(const struct unpacking *u, const char *name)
{
	const char *end = strrchr(name, '/'), *start = end;
	AUTO_STRBUF origin = { 0 };
	AUTO_FREE char *text = NULL;
	struct build_id id;

	while (start && start > name && start[-1] != '/')
		start--;
	text = start ? mem_strndup(start, (size_t)(end - start)) : mem_strdup("");
	return !u->o->folder && build_id_parse(text, &id) &&
	       debugdir_origin(u->dir, &id, &origin) && !debugdir_has(u->dir, &id, DEBUGDIR_MARK);
}

static int put_file(struct unpacking *u, struct tar *t, const struct tar_member *m, int dir,
		    const char *name, struct err *e)
{
	const void *p;
	int r;

	if (is_own(u, name)) {
		u->there++;
		return 0;
	}
	r = budget_take(&u->disk, m->size, u->file, e);
	if (r < 0)
		return r;
	p = tar_data(t, m, e);
	r = p ? debugdir_write(dir, name, p, (size_t)m->size, e) : -EBADMSG;
	tar_drop(t, m);

	u->files += r == 0;
	u->there += r == 1;
	return r < 0 ? r : 0;
}

/* .build-id/ab/cdef to ../../FOLDER, as the cache has them; others are left out. */
static int put_link(struct unpacking *u, const struct tar_member *m, struct err *e)
{
	AUTO_FREE char *text = NULL;
	AUTO_STRBUF same = { 0 };
	struct build_id id;
	int r;

	if (!str_starts(m->name, ".build-id/") || strlen(m->name) < 14 || m->name[12] != '/' ||
	    !str_starts(m->link, "../../") || strstr(m->link + 6, "..") || m->link[6] == '/') {
		u->left++;
		return 0;
	}
	text = mem_printf("%.2s%s", m->name + 10, m->name + 13);
	if (build_id_parse(text, &id))
		archive_link(&same, &id);
	if (strcmp(strbuf_str(&same), m->name) != 0) {
		u->left++;
		return 0;
	}
	r = debugdir_link(u->dir, &id, m->link + 6, e);
	if (r != 0 || u->o->folder)
		return r < 0 ? r : 0;
	vec_push(&u->marked, id);
	return debugdir_store(u->dir, "", &id, DEBUGDIR_MARK, "", 0, e);
}

/* Now it shows for which recording all that is. */
static int archive_unpack_mark(const struct unpacking *u, struct err *e)
{
	struct source *s = NULL;
	struct recording_id of;
	int r = 0;

	if (!u->recording || !u->marked.n || source_open(u->recording, &s, NULL) < 0)
		return 0;
	of = (struct recording_id){ s->trace->first_time, s->trace->last_time };
	source_close(s);
	vec_each (&u->marked, id)
		if (r == 0)
			r = debugdir_store(u->dir, "", id, DEBUGDIR_MARK, &of, sizeof(of), e);
	return r;
}

/* The recording goes where one is used to be: the current folder. */
static int put_recording(struct unpacking *u, struct tar *t, const struct tar_member *m,
			 struct err *e)
{
	const char *path = u->o->output ? u->o->output : "perf.data";
	const void *p;
	int fd, r = budget_take(&u->disk, m->size, u->file, e);

	if (r < 0)
		return r;
	p = tar_data(t, m, e);
	if (!p)
		return -EBADMSG;
	fd = output_growing(path, O_EXCL, 0600, e);
	if (fd == -EEXIST) {
		err_set(e, EEXIST, "%s is there already", path);
		return err_hint(e, "-o FILE gives the recording another name");
	}
	if (fd < 0)
		return fd;
	r = file_write_all(fd, p, (size_t)m->size);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	tar_drop(t, m);
	u->recording = path;
	return r < 0 ? err_set(e, -r, "cannot write %s: %s", path, strerror(-r)) : 0;
}

static int archive_unpack_put_all(struct unpacking *u, struct tar *t, bool nested, struct err *e);

/* perf archive --all packs the archive of the files into another one. */
static int put_nested(struct unpacking *u, struct tar *t, const struct tar_member *m, struct err *e)
{
	const void *p = tar_data(t, m, e);
	int fd = p ? temp_file(e) : -EBADMSG, r;
	struct tar *inner;

	if (fd < 0)
		return fd;
	r = budget_take(&u->disk, m->size, m->name, e);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = file_write_all(fd, p, (size_t)m->size);
	if (r < 0) {
		close(fd);
		return err_set(e, -r, "cannot unpack %s: %s", m->name, strerror(-r));
	}
	tar_drop(t, m);
	r = open_any(u, fd, m->name, &inner, e);
	if (r == 0) {
		r = archive_unpack_put_all(u, inner, true, e);
		tar_close(inner);
	}
	return r;
}

static bool is_nested(const char *name)
{
	return !strchr(name, '/') && str_starts(name, "perf.symbols.") && strstr(name, "tar");
}

static int put_member(struct unpacking *u, struct tar *t, const struct tar_member *m, bool nested,
		      struct err *e)
{
	bool whole = u->o->folder;

	if (m->kind == TAR_LINK && str_starts(m->name, ARCHIVE_FILES "/"))
		return 0; /* a second way to a file */
	if (m->kind == TAR_LINK)
		return put_link(u, m, e);
	if (m->kind != TAR_FILE)
		return 0;
	if (!nested && is_nested(m->name))
		return put_nested(u, t, m, e);
	if (!whole && strcmp(m->name, ARCHIVE_DATA) == 0)
		return put_recording(u, t, m, e);
	/* what goes by its path has no place in a cache */
	if (!whole &&
	    (str_starts(m->name, ".build-id/") || str_starts(m->name, ARCHIVE_FILES "/") ||
	     str_starts(m->name, ARCHIVE_DATA "/"))) {
		u->left++;
		return 0;
	}
	return put_file(u, t, m, u->dir, m->name, e);
}

static int archive_unpack_put_all(struct unpacking *u, struct tar *t, bool nested, struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < tar_count(t); i++)
		r = put_member(u, t, tar_at(t, i), nested, e);
	u->left += tar_refused(t);
	return r;
}

/* What perf archive and kymo archive write. */
static char *default_file(void)
{
	static const char *const patterns[] = { "perf.data.kymo", "perf.all.*.tar.*",
						"perf.symbols.*.tar.*", "perf.data.tar.*" };
	char *found = NULL;

	for (size_t i = 0; !found && i < ARRAY_SIZE(patterns); i++) {
		glob_t g = { 0 };

		if (glob(patterns[i], 0, NULL, &g) == 0 && g.gl_pathc)
			found = mem_strdup(g.gl_pathv[0]);
		globfree(&g);
	}
	return found;
}

static void archive_unpack_tell(const struct unpacking *u, const struct tar *t, const char *where)
{
	char n[64];

	if (u->left)
		command_note("%zu members were left out: they have no place there (-d DIR takes "
			     "all that are safe)",
			     u->left);
	if (tar_was_cut(t))
		command_note("the archive was cut short: files are missing from it");
	fprintf(stderr, "[ kymo archive: %s into %s", str_count(u->files, "file", n, sizeof(n)),
		where);
	if (u->there)
		fprintf(stderr, ", %zu were there", u->there);
	if (u->recording)
		fprintf(stderr, ", the recording into %s", u->recording);
	fputs(" ]\n", stderr);
}

int archive_unpack(const struct archive_args *o, const char *named, struct err *e)
{
	AUTO_FREE char *file = named ? mem_strdup(named) : default_file();
	struct unpacking u = { .o = o, .file = file, .disk.kind = BUDGET_DISK, .dir = -1 };
	AUTO_STRBUF where = { 0 };
	struct stat st;
	struct tar *t;
	int fd, r;

	if (!file) {
		err_set(e, ENOENT, "there is no archive here");
		return err_hint(e, "name it: kymo archive --unpack FILE");
	}
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot open %s: %s", file, strerror(errno));
	if (fstat(fd, &st) == 0)
		u.disk.size = budget_size(&st);
	r = open_any(&u, fd, file, &t, e);
	if (r < 0)
		return r;
	u.dir = debugdir_open(o->folder ? o->folder : o->buildid_dir, true, e);
	r = u.dir < 0 ? u.dir : archive_unpack_put_all(&u, t, false, e);
	if (r == 0)
		r = archive_unpack_mark(&u, e);
	debugdir_path(o->folder ? o->folder : o->buildid_dir, &where);
	if (r == 0 && !o->quiet)
		archive_unpack_tell(&u, t, strbuf_str(&where));
	if (u.dir >= 0)
		close(u.dir);
	vec_free(&u.marked);
	tar_close(t);
	return r;
}
